"""Bridges to other frameworks. Each imports its framework only when used."""
