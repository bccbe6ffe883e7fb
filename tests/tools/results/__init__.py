"""Tests of llmcore.tools.results."""
