"""The text engine: it takes text, walks from candidate to candidate, and drives the readers.

The forms of calls are defined elsewhere: `dialects` has the rows with markers, `bare` the forms without.
"""
