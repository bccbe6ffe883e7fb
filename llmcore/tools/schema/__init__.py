"""From a function to the JSON Schema of its arguments, and from arguments back to Python values."""
