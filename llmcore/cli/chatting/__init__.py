"""The chat of `llmcore chat`: the conversation, its commands, and how its events are shown."""
