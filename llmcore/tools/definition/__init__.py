"""The `Tool` of a function: its options, its definition for the model, and lists of tools."""
