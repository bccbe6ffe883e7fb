"""Tests of llmcore.orchestrator."""
