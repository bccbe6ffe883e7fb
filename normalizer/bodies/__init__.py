"""The text between a call's markers: JSON, parameters, elements, braces, Python calls, sections; and its delta events.

A body does not know which dialect it belongs to, or why its marker counted.
"""
