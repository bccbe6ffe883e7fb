"""Observers of a run: logs, statistics and recordings."""
