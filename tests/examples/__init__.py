"""Tests of what stands in `examples/`, and of the README."""
