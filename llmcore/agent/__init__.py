"""Agents: a class whose methods are tools and hooks, and which keeps its conversation. One loop, the orchestrator's."""

from __future__ import annotations

from llmcore.agent.agent import Agent

__all__ = ["Agent"]
