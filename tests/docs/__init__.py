"""Tests of what stands in `docs/`."""
