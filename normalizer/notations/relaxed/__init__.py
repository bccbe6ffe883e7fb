"""A JSON reader that repairs, and records each repair.

`read` has the entry points. The other modules have its strings, structure, lexemes, state and closers, and a fast path for
plain JSON.
"""
