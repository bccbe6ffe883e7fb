"""Tests of llmcore.cli.explaining."""
