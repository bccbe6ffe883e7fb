"""Forms without a marker: JSON, Python calls, ReAct, code fences and made-up wrappers, found by the character that triggers them.

When such a form counts as a call is decided in one place (`verdicts`). Nothing here has a row of its own with an opener.
"""
