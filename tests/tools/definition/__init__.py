"""Tests of llmcore.tools.definition."""
