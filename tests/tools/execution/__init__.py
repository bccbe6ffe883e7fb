"""Tests of llmcore.tools.execution."""
