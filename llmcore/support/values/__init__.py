"""Helpers for values: copies, JSON's containers, numbers, annotations."""
