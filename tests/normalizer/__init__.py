"""Layer 2."""
