"""Text to value, whole and without a stream: JSON, strict and repaired, Python calls, where a value ends, escapes.

Nothing here knows a tool, a dialect or a reading. No reader raises on what a model wrote, and each is linear.
"""
