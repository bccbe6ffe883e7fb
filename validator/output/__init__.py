"""Typed output: finds values in a text, chooses the answer, and converts it to the output type, whole or partial.

`validator.report` handles tool calls. `validator.correction` asks the model again.
"""
