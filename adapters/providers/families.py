"""Which text dialect a model's family writes best when its calls must be written as text.

Rule: the dialect the family was trained on, if its markers survive as plain text. Markers that are control tokens of
the tokenizer (`[TOOL_CALLS]`, DeepSeek's and Kimi's token markers, harmony channels) are eaten by servers that skip
special tokens, so families that have only those are taught the nearest plain form. Names are the normaliser's registry
names.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

__all__ = ["DEFAULT_DIALECT", "TEXT_DIALECTS", "text_dialect"]

DEFAULT_DIALECT = "hermes"
"""`<tool_call>{json}</tool_call>`: the most widely trained form, plain text, one JSON object a call."""

TEXT_DIALECTS: tuple[tuple[str, str], ...] = (
    ("*claude*", "anthropic_function_calls"),
    ("*qwen*coder*", "qwen3_coder"),
    ("*qwen3.5*", "qwen3_coder"),
    ("*nemotron-3*", "qwen3_coder"),
    ("*qwen*", "hermes"),
    ("*qwq*", "hermes"),
    ("*hermes*", "hermes"),
    ("*llama-4*", "llama4_pythonic"),
    ("*llama4*", "llama4_pythonic"),
    ("*llama*", "functionary_v31"),  # <function=NAME>{json}</function>, the form of Meta's own prompt for Llama 3.x
    ("*functionary*", "functionary_v31"),
    ("*glm-4.7*", "glm47"),
    ("*glm*", "glm45"),
    ("*minimax*", "minimax_m2"),
    ("*seed-oss*", "seed_oss"),
    ("*gemma*", "tool_code"),
    ("*gemini*", "tool_code"),
    ("*phi-4*", "functools"),
    ("*granite*", "hermes"),
    ("*mistral*", "hermes"),  # its own marker is a control token
    ("*mixtral*", "hermes"),
    ("*ministral*", "hermes"),
    ("*devstral*", "hermes"),
    ("*deepseek*", "hermes"),  # its own markers are control tokens
    ("*kimi*", "hermes"),  # likewise
    ("*gpt-oss*", "hermes"),  # harmony channels never reach the text of a served model
)
"""Globs on the model's name, lower case; the first that matches counts."""


def text_dialect(model: str) -> str:
    """The registry name of the dialect to teach `model` in the prompted modes."""
    name = model.lower()
    return next((dialect for pattern, dialect in TEXT_DIALECTS if fnmatchcase(name, pattern)), DEFAULT_DIALECT)
