"""Tests of llmcore.testing."""
