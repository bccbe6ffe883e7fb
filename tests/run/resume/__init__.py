"""Tests of llmcore.run.resume."""
