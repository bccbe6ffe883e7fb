"""Damage that shows in the arguments: a call begun again, markup left over, placeholders, misread paths."""
