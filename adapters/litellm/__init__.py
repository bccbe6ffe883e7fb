"""LiteLLM, the engine: how it is imported, watched and asked, what its exceptions mean, and what a request used.

The only room that imports litellm and its clients, with the first call and never before. Imports are absolute, so `litellm` is
always the library.
"""
