"""The loop of a run: its turns, the attempts of a turn, and the calls of a reply."""
