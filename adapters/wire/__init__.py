"""What a server's bytes tell, below LiteLLM: unpacked, bounded, taken apart into events, and whether the reply came to its end.

Nothing here imports LiteLLM or knows which call the bytes answer. What they mean for the call is said in `litellm`.
"""
