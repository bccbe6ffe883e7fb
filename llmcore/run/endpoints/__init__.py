"""Chooses what to ask: the models of an orchestrator, their output modes, and what is known about their endpoints."""
