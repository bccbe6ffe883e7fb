"""What does not fit into the window is an overflow in whatever words, and nothing else is."""

from __future__ import annotations

import pytest

from llmcore.adapters.base import Endpoint
from llmcore.adapters.litellm.errors.phrases import meanings
from llmcore.adapters.litellm.errors.table import classify
from llmcore.types import ContextOverflow
from tests.adapters.conftest import call_of
from tests.adapters.litellm.errors.test_failures import Made
from tests.helpers.growth import assert_linear

OVERFLOWS = (
    "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
    "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 0 `max_new_tokens`",
    "Please reduce the length of the messages or completion.",
    "the input length exceeds the context length",
    "the request exceeds the available context size. try increasing the context size or enable context shift",
    "The input (9000 tokens) is longer than the model's context length (4096 tokens).",
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "Input is too long for requested model.",
    "Your conversation is longer than the context window of this model",
    "too many tokens: size limit exceeded by 1523 tokens. Try using shorter or fewer inputs, or setting prompt_truncation='AUTO'.",
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
    "Requested tokens (5123) exceed context window of 4096",
    "The prompt (total length 7000) is too long to fit into the model (context length 4096). Make sure that `max_model_len` is no smaller than the number of text tokens",
    "`inputs` must have less than 4096 tokens. Given: 5000",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "prompt token count of 130000 exceeds the limit of 128000",
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens. Please reduce the length of the messages.",
    "context length exceeded",
    "Total number of tokens (input + output) 5000 exceeds n_ctx 4096",
    "ValidationException: Too many input tokens. Max input tokens: 128000, request input token count: 140000",
    "The sequence length of 9000 tokens is larger than the model's maximum of 8192",
    "Prompt too long",
    "prompt too long; exceeded max context length by 512 tokens",
    "exceeded model token limit: 8192 (requested: 9000)",
    "Range of input length should be [1, 30720]",
    "Input length 9000 exceeds maximum allowed token size 8192",
)

OTHERS = (
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.",
    "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5",
    "max_tokens: 8192 > 4096, which is the most output this model can write",
    "max_tokens: Input should be less than or equal to 4096 (input: 8192)",
    "context deadline exceeded",
    'Post "http://x/api/chat": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    "Invalid schema for function 'get_weather': In context=('properties', 'city'), 'additionalProperties' is required to be supplied and to be false.",
    "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.",
    "tools.0.function.description: string too long, at most 1024 characters, got 2000",
    "Tool 'odd' has a description that is too long (max 1024)",
    "Invalid 'messages': array too long. Expected an array with maximum length 128, but got 130",
    "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 130 instead.",
    "thinking.budget_tokens: Input should be greater than or equal to 1024",
    "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation",
    "image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
    "response_format: schema is too complex: 6 levels of nesting exceed the limit of 5",
    "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
    "You exceeded your current quota, please check your plan",
    "Rate limit reached: 100000 tokens per min. Limit 30000, used 20000, requested 25000",
    "too many images in the request: 20, at most 8 images are supported",
    "model requires more system memory (50 GiB) than is available (30 GiB)",
    "Invalid token: signature is longer than expected",
    "API token has expired; the request is over",
    "Your token limit for this month is used up",
    "thinking budget 500 is below the minimum of 1024 tokens",
    "Unexpected token } in JSON at position 2048, line 300",
    "unknown special token 151657 in prompt; at most 151643 are known",
    "stop: too long, at most 16 tokens",
    "The bearer token in the request is not valid (issued 1700000000, maximum age 3600)",
    "this model does not support tools in context of streaming",
    "number of top_logprobs must be at most 20",
    "reasoning tokens exceed the limit",
    "Requested 9000 completion tokens, but the maximum is 4096",
    "tools is too long for this model",
    "daily token limit exceeded: 500000 used of 400000",
)


@pytest.mark.parametrize("words", OVERFLOWS)
def test_what_does_not_fit_is_an_overflow(words: str) -> None:
    assert isinstance(classify(Made(words, 400), call_of(Endpoint(provider="xai", model="grok-4"))), ContextOverflow)


@pytest.mark.parametrize("words", OTHERS)
def test_other_limits_are_none(words: str) -> None:
    assert "overflow" not in meanings(words.lower())


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("exceed_context_size_error", True),
        ("model_max_prompt_tokens_exceeded", True),
        ("context_window_exceeded", True),
        ("input_too_long", True),
        ("rate_limit_exceeded", False),
        ("invalid_prompt", False),
        ("string_above_max_length", False),
    ],
)
def test_a_code_tells_it_too(code: str, told: bool) -> None:
    error = classify(Made("No.", 400, body={"message": "No.", "code": code}), call_of(Endpoint(provider="xai", model="grok-4")))
    assert isinstance(error, ContextOverflow) is told


@pytest.mark.sweep
@pytest.mark.parametrize("piece", ["the context ", "maximum 300 ", "prompt tokens 12 34 ", "max_tokens of ", "1 2"])
def test_it_is_linear(piece: str) -> None:
    assert_linear(lambda size: meanings(piece * (size // len(piece))), 20_000)
