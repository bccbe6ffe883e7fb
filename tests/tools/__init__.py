"""Tests of llmcore.tools."""
