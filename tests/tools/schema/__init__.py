"""Tests of llmcore.tools.schema."""
