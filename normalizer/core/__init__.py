"""What every reader stands on: the text as it grows, a reading of it, rows and their table, names, what a listener is told.

No reader lives here, no dialect and no engine. Nothing here imports another room of the normaliser.
"""
