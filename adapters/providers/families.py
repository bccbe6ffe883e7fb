"""Which text dialect a model's family writes best if its calls must be written as text.

It is the dialect that the family was trained on, if its markers survive as plain text. Servers that skip special tokens drop
markers that are control tokens (`[TOOL_CALLS]`, DeepSeek's and Kimi's token markers, harmony channels). Families that have
only those get the nearest plain form. Names are those of the normalizer's registry.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache

__all__ = ["DEFAULT_DIALECT", "OWN_DIALECTS", "TEXT_DIALECTS", "own_dialects", "text_dialect"]

DEFAULT_DIALECT = "hermes"
"""`<tool_call>{json}</tool_call>`: the form most models were trained on, in plain text, with one JSON object per call."""

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
"""Globs for the model's name in lower case. The first match counts."""

OWN_DIALECTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("*claude*", ("anthropic_function_calls", "anthropic_legacy")),
    ("*gpt-oss*", ("harmony",)),
    ("*qwen*coder*", ("qwen3_coder", "hermes")),
    ("*qwen*", ("hermes", "qwen3_coder", "qwen_agent")),
    ("*qwq*", ("hermes",)),
    ("*hermes*", ("hermes",)),
    ("*nemotron*", ("nemotron_v2", "qwen3_coder")),
    ("*llama*", ("llama3_json", "bare_json", "functionary_v31", "llama4_pythonic", "pythonic", "llama_builtin")),
    ("*functionary*", ("functionary_v31", "functionary_v32")),
    ("*glm*", ("glm45", "glm47")),
    ("*minimax*", ("minimax_m1", "minimax_m2", "minimax_m3")),
    ("*seed-oss*", ("seed_oss",)),
    ("*gemma*", ("gemma4", "functiongemma", "tool_code")),
    ("*gemini*", ("tool_code",)),
    ("*phi-4*", ("functools", "granite3")),
    ("*granite*", ("granite3", "granite3_array", "granite_20b", "hermes")),
    ("*[is]tral*", ("mistral_array", "mistral_v11")),
    ("*mixtral*", ("mistral_array", "mistral_v11")),
    ("*deepseek*", ("deepseek_v3", "deepseek_v31", "dsml_v32", "dsml_v4", "dsml_v41")),
    ("*kimi*", ("kimi_k2", "kimi_k3")),
    ("*command*", ("cohere_action",)),
    ("*longcat*", ("longcat",)),
    ("*hunyuan*", ("hunyuan_v3", "hunyuan_v4", "tool_calls_array")),
    ("*step*", ("step3",)),
    ("*jamba*", ("tool_calls_array",)),
    ("*lfm2*", ("lfm2",)),
    ("*olmo*", ("olmo3",)),
    ("*apertus*", ("apertus",)),
    ("*gigachat*", ("gigachat3", "gigachat3_1")),
    ("*plamo*", ("plamo3",)),
    ("*inkling*", ("inkling",)),
    ("*mimo*", ("mimo", "hermes")),
)
"""What a family writes if its server passes calls on as text: its markers, including control tokens. Globs as above."""


@lru_cache(maxsize=256)
def own_dialects(model: str) -> tuple[str, ...]:
    """Return the registry names of the dialects that the model's family writes. Empty for an unknown family."""
    name = model.lower()
    own = next((dialects for pattern, dialects in OWN_DIALECTS if fnmatchcase(name, pattern)), ())
    taught = next((dialect for pattern, dialect in TEXT_DIALECTS if fnmatchcase(name, pattern)), "")
    return (*own, taught) if taught and taught not in own else own


def text_dialect(model: str) -> str:
    """Return the registry name of the dialect that the prompted modes describe to `model`."""
    name = model.lower()
    return next((dialect for pattern, dialect in TEXT_DIALECTS if fnmatchcase(name, pattern)), DEFAULT_DIALECT)
