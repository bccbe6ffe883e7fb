"""Asking the model again: when, how often, in which words, and how its answer takes the place of the bad turn.

Sans-IO as all of the layer: whoever drives the loop makes the request. Nothing here judges by itself; it asks the report and
the parser.
"""
