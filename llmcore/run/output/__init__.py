"""Typed output: the type of the answer, its validators, and the answer while it streams."""
