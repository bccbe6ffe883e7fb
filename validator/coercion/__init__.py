"""Coerces values to a schema, and records each step: conversions, aliases, and `json_repair` for one call.

The strictness decides which steps are allowed. The schema decides whether the result fits.
"""
