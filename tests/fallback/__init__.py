"""Tests of llmcore.fallback."""
