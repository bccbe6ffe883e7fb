"""The provider table: every row by its name. Each row, and each row of models, names its sources.

None in a capability means unknown: it is tried and learned. False is written only if a request is known to fail, or to change
its meaning (a `response_format` that makes tools uncallable).
"""

from __future__ import annotations

from llmcore.adapters.providers.provider import Provider
from llmcore.adapters.providers.rows_anthropic import ANTHROPIC, BEDROCK
from llmcore.adapters.providers.rows_google import GEMINI, VERTEX
from llmcore.adapters.providers.rows_hosts import DEEPSEEK, GROQ, MISTRAL, OPENROUTER, TOGETHER, XAI
from llmcore.adapters.providers.rows_local import LLAMA_CPP, LM_STUDIO, LOCAL, OLLAMA, OPENAI_COMPATIBLE, SGLANG, VLLM
from llmcore.adapters.providers.rows_openai import AZURE, OPENAI

__all__ = ["ALIASES", "IN_PROCESS", "OPENAI_COMPATIBLE", "PROVIDERS"]

_ROWS = (
    *(OPENAI, AZURE, ANTHROPIC, BEDROCK, GEMINI, VERTEX, GROQ, OPENROUTER, MISTRAL, DEEPSEEK, XAI, TOGETHER),
    *(OLLAMA, VLLM, SGLANG, LLAMA_CPP, LM_STUDIO, OPENAI_COMPATIBLE),
)
PROVIDERS: dict[str, Provider] = {provider.name: provider for provider in _ROWS}
IN_PROCESS: dict[str, Provider] = {LOCAL.name: LOCAL}
"""Rows that LiteLLM does not reach: the model is in this process (`adapters.local`)."""
ALIASES = {
    "bedrock_converse": "bedrock",
    "hosted_vllm": "vllm",
    "llama.cpp": "llama_cpp",
    "lmstudio": "lm_studio",
    "ollama_chat": "ollama",
    "together_ai": "together",
    "vertex": "vertex_ai",
}
"""Other spellings of a row's name, including LiteLLM's."""
