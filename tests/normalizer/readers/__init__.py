"""The value readers."""
