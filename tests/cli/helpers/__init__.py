"""Tests of llmcore.cli.helpers."""
