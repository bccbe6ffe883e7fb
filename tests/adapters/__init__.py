"""Tests of layer 1."""
