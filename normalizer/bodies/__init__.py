"""What stands between a call's markers: JSON, parameters, elements, braces, Python calls, sections; and what a listener hears of
it while it comes.

A body does not know which dialect it is the body of, nor why its marker counted.
"""
