"""JSON Schemas and what they say of a value: converted, checked, compiled once, judged within bounds, and the problems in words.

No value is changed here, no text is read and no tool is known. Whoever judges, coerces or parses stands above.
"""
