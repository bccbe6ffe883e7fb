"""What all readers share: the reading of one text, markers and their table, tool names, delta events.

Readers, dialects and the engine live in other packages. `reading` has the contract of a reader.
"""
