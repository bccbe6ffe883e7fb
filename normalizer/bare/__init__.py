"""Forms without a marker: JSON, Python calls, ReAct, code fences, made-up wrappers. A character triggers each of them.

`verdicts` decides when such a form is a call. No form here is a row with its own opener.
"""
