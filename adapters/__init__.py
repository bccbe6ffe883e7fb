"""Layer 1: what to ask of a provider, and what came back.

LiteLLM is the engine and this is the only room that imports it, on the first call and never before. An adapter takes a
`Request` and returns a whole `Reply`; it reads nothing into the reply, that is the normaliser's task.
"""
