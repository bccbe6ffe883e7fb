"""Tests of llmcore.run.results."""
