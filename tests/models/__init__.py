"""Tests of llmcore.models."""
