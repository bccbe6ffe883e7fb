"""Tests of llmcore.transcripts."""
