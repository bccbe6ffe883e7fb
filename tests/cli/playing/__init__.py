"""Tests of llmcore.cli.playing."""
