"""Tests of llmcore.run.setup."""
