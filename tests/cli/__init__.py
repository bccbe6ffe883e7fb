"""Tests of llmcore.cli."""
