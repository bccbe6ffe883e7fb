"""Damage that the arguments of a call show: a restarted call, rests of markup, placeholders, misread paths."""
