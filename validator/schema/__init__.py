"""JSON Schemas: converts, checks and compiles them, validates values within a budget, and describes the problems.

This package changes no value, reads no text and knows no tool. `judging`, `coercion` and `output` use it.
"""
