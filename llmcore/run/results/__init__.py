"""The result of a run: its history, its records, and the calls that wait."""
