"""Reads the server's bytes below LiteLLM: unpacks and bounds them, splits them into events, and checks whether the reply is
complete.

This package does not import LiteLLM and knows no model call. The package `litellm` interprets the results.
"""
