"""The JSON reader that repairs and records what it repaired.

`read` is the way in. The other modules are its strings, structure and lexemes, what it remembers, how it closes an open value,
and the short way for JSON that is only plain.
"""
