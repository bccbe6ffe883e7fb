"""The conversation of a request in a wire format: messages, history, special tokens, and tools described in text."""
