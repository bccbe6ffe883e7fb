"""The text engine: it is fed, it walks from candidate to candidate, and it drives the readings that readers are given.

Which forms there are is no matter of this room: rows and bare forms stand below.
"""
