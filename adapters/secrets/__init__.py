"""Finds and removes secrets: those of the process and of a request, in any encoding.

This package knows no model call, no provider and not LiteLLM.
"""
