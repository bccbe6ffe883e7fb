"""Helpers for code: locks, lazy expressions, events told by a coroutine, signatures, suggestions."""
