"""One resolved call as LiteLLM is given it: messages, tools, output schemas, names, numbers; and the same undone in the reply.

Nothing here imports LiteLLM, sends anything or looks at bytes. What a provider differs in is data (`providers`), which this
room only reads.
"""
