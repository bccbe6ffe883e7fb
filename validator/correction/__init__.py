"""Asks the model again after an invalid reply, and merges the answer into the turn.

This package does no I/O: its caller sends the requests. `validator.report` and `validator.output` find the problems.
"""
