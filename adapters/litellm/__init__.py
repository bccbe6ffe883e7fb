"""The adapter for LiteLLM: imports, patches and calls it, interprets its exceptions, and reads token usage.

Only this package imports litellm and its clients, on the first call. Imports are absolute, so `litellm` is always the
library.
"""
