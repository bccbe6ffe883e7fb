"""From a complete text to a value: JSON, strict and repaired, Python calls, YAML, the extent of a value, escapes.

No module here knows a tool, a dialect or a reading. No text makes a reader raise, and each reader is linear.
"""
