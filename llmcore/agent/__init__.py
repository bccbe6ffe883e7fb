"""Agents: classes whose methods are tools and hooks, and which keep their conversation. The orchestrator runs their chats."""

from __future__ import annotations

from llmcore.agent.agent import Agent

__all__ = ["Agent"]
