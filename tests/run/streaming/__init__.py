"""Tests of llmcore.run.streaming."""
