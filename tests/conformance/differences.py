"""The fixtures of `canitoolcall` 0.1.1 that llmcore does not pass to the letter. Every other fixture passes.

`test_conformance.py` replays all fixtures and fails if an entry is missing or no longer true. Soft passes are counted separately.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DIFFERENCES", "SOFT_PASSES", "Difference"]


@dataclass(frozen=True)
class Difference:
    """Why a fixture fails. `page` documents the policy; it is "" for a fault, which has no policy."""

    reads: str
    """What llmcore returns, in place of what the suite expects."""
    reason: str
    page: str = ""


DIFFERENCES: dict[str, Difference] = {
    "deepseek/vllm-v3-malformed-missing-brace": Difference(
        "the call, with a recorded repair",
        "Damage that leaves one reading is repaired, and the repair is recorded.",
        "trust.md#damage",
    ),
    "deepseek/vllm-v3-malformed-missing-call-tokens": Difference(
        "the call, with a recorded repair",
        "Damage that leaves one reading is repaired, and the repair is recorded.",
        "trust.md#damage",
    ),
    "gpt-oss/llamacpp-builtin-python-recipient": Difference(
        "the code as content, with the near miss `built_in`",
        "Code for a built-in tool that was not offered is a near miss, and a near miss is content.",
        "trust.md#near-misses",
    ),
    "kimi/k2i-vllm-noise-between-markers": Difference(
        "the call; the words between the markers as content",
        "No words of a reply are lost; the suite drops them.",
        "trust.md#damage",
    ),
    "llama/l4-truncated-missing-close-bracket": Difference(
        "the first call, which is whole; the second is incomplete",
        "In a reply that was cut off, a call that is whole stays whole.",
        "architecture.md#the-normaliser",
    ),
}
"""At most eight."""

SOFT_PASSES = frozenset(
    {
        "gemma4/sglang-text-before-call",
        "kimi/k2i-vllm-empty-tool-section",
        "kimi/k2i-vllm-id-without-functions-prefix",
        "kimi/k2i-vllm-multiline-json",
        "kimi/k2i-vllm-single-call-content-before",
        "kimi/k2i-vllm-three-tool-calls",
        "llama/l3-sglang-text-before-python-tag",
        "qwen3-xml/llamacpp-q35-call-inside-think",
    }
)
"""Right but for white space at the ends of the content or the reasoning."""
