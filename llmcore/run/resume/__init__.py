"""Saves and resumes runs: save points, claims, given histories, and the answers to open calls."""
