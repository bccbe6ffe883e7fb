"""Tests of llmcore.run.observing."""
