"""Tests of llmcore.run.turn."""
