"""Tests of llmcore.run.asking."""
