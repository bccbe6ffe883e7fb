"""Tests of llmcore.run: a folder for each of its packages."""
