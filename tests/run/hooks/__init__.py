"""Tests of llmcore.run.hooks."""
