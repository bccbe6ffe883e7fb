"""What every reader stands on: a reading of the text, rows and their table, names, what a listener is told.

No reader lives here, no dialect and no engine. `reading` has the contract of a reader.
"""
