"""Sends requests: one request and its reply, probes, and what is loaded before the first request."""
