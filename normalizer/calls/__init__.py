"""From a value to a call: which object is a call, what untyped text is by the tool's schema.

Values in, call objects out; no text is sought here and nothing waits.
"""
