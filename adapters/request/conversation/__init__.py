"""The conversation of a request as a wire takes it: messages, history, special tokens, tools as text."""
