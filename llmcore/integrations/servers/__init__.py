"""Plugins of inference servers: the server no longer needs to be told how its model writes calls.

`vllm` is a tool parser for vLLM, and `sglang` a detector for SGLang. Each module imports its server, so only the server imports
it. docs/servers.md says how you start a server with it.
"""
