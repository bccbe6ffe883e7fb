"""JSON Schema as tools have it: its shape, its type names, and that of a Python type."""
