"""What a run gives back: its result, its history, and the calls that still wait."""
