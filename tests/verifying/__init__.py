"""Tests of llmcore.verifying."""
