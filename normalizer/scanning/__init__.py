"""The text as it grows (`source`), expressions to search it (`sought`), and words that several formats share (`words`).

This is the lowest package of the normalizer: it imports no other one, and nothing in it knows what a call is.
"""
