"""Applies hooks and approvals to requests, replies and calls."""
