"""Typed output from any text: which values it holds, which of them is the answer, and the type's value of it, whole or partial.

Calls are no matter of this room (`report`), and no model is asked again (`correction`).
"""
