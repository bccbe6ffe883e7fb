"""Tests of llmcore.run.output."""
