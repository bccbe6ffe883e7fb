"""Tests of llmcore.types."""
