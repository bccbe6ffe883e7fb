"""Tests of llmcore.run.endpoints."""
