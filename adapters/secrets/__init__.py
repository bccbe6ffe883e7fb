"""Secrets: which ones the process and a request hold, how they may be written, and how they are taken out of what is shown.

The lowest room: an endpoint's own words stand on it. Nothing here knows a call, a provider or LiteLLM.
"""
