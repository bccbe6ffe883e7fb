"""The text as it grows (`source`), what is sought in it (`sought`), and the words that several formats share (`words`).

The lowest room: nothing here imports another, and nothing here knows what a call is.
"""
