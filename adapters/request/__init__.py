"""Builds the request for LiteLLM from one resolved call: messages, tools, output schemas, names, parameters. Undoes the
changes in the reply.

This package does not import LiteLLM and sends nothing. The differences between providers are data in `providers`.
"""
