"""Anthropic's own API and Amazon Bedrock's Converse, which serves Claude beside other families."""

from __future__ import annotations

from llmcore.adapters.base import Capabilities
from llmcore.adapters.providers.common import CLAUDE, CLAUDE_LIMITS, CLAUDE_SAMPLING, FULL, TRIED
from llmcore.adapters.providers.provider import IdRule, MediaRule, ModelRule, NameRule, Provider

__all__ = ["ANTHROPIC", "BEDROCK", "CLAUDE_MEDIA", "CLAUDE_NAMES"]

CLAUDE_NAMES = NameRule(length=128, source="Claude's API reference: tool names ^[a-zA-Z0-9_-]{1,128}$")
CLAUDE_MEDIA = {
    "image": MediaRule(own_urls=("https://",), in_results=True),  # LiteLLM would fetch one by http://
    "file": MediaRule(own_urls=("https://",), in_results=True, types=frozenset({"application/pdf"})),
}
"""Claude's documentation: Vision, PDF support (a PDF by URL or base64). Text goes as text."""
_CHOICE = "Amazon Bedrock API reference: ToolChoice (any and one tool are for Claude and Nova only)"

ANTHROPIC = Provider(
    name="anthropic",
    prefix="anthropic",
    wire="anthropic",
    appended_path="/v1",
    api_key_variable="ANTHROPIC_API_KEY",
    sources=(
        "Claude's documentation: Tool use (tool_choice auto, any, tool, none; disable_parallel_tool_use)",
        "Claude's documentation: Structured outputs (native from 4.1 and 4.5 on; 20 strict tools a request)",
        "Claude's documentation: Extended thinking (no forced call beside a budget), Prompt caching, Web search tool",
        "Claude's documentation: Vision, PDF support",
        TRIED,
    ),
    hosts=("anthropic.com", "claude.com"),
    model_names=("claude-*",),
    capabilities=CLAUDE,
    schema_flag="supports_native_structured_output",  # without it LiteLLM forces a tool, and beside tools loses them
    schema_dialect="anthropic",
    output_dialect="anthropic_strict",
    strict_tools=True,
    names=CLAUDE_NAMES,
    ids=IdRule(length=512, source="Claude's API reference: tool_use_id ^[a-zA-Z0-9_-]+$"),
    limits=(CLAUDE_LIMITS,),
    thinking="anthropic",
    thinks_by_default=False,
    forces_while_thinking=False,
    thinks_after_unsigned_calls=False,
    sampling_while_thinking=CLAUDE_SAMPLING,
    needs_max_tokens=True,
    prompt_cache=True,
    media=CLAUDE_MEDIA,
    one_system_message=True,
    declares_called_tools=True,
    extra_body="transport",
)

_CONVERSE = FULL.model_copy(
    update={
        "json_schema": False,  # Converse has no response format that LiteLLM would not make a forced tool of
        "json_object": False,
        "schema_with_tools": False,
        "parallel_tools": None,
        "tool_choice_required": False,
        "tool_choice_named": False,
        "web_search": False,
    }
)
_ALL_CHOICES = {"tool_choice_required": True, "tool_choice_named": True, "images": True, "files": True}

BEDROCK = Provider(
    name="bedrock",
    prefix="bedrock",
    route="converse",
    own_routes=(  # LiteLLM's other ways, and models that Converse does not serve, or not alone
        *("invoke/*", "converse/*", "converse_like/*", "claude_platform/*", "agent/*", "agentcore/*", "async_invoke/*"),
        *("openai/*", "mantle/*", "chat_completions/*", "nova/*", "nova-2/*", "llama/*", "deepseek_r1/*", "qwen2/*", "qwen3/*"),
        *("openai.*", "*.openai.*", "*twelvelabs.*"),
    ),
    wire="bedrock-converse",
    searches_by="",
    needs_package="boto3 (boto3)",
    credentials="AWS's credentials: set the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, run where a "
    "role gives them, or give a bearer token as `api_key`",
    token_variable="AWS_BEARER_TOKEN_BEDROCK",
    sources=(
        "Amazon Bedrock user guide: Call a tool with the Converse API",
        "Amazon Bedrock API reference: Converse, ToolSpecification, ToolUseBlock, ToolChoice",
        "Amazon Bedrock user guide: Supported models and model features",
        TRIED,
    ),
    hosts=("amazonaws.com",),
    model_names=("*.*", "arn:*", "converse/*", "invoke/*"),
    capabilities=_CONVERSE,  # keys of AWS come from the environment, a profile or a role; `api_key` is a bearer token
    models=(
        ModelRule(
            "*anthropic.claude*",
            _CONVERSE.model_copy(update={**_ALL_CHOICES, "parallel_tools": True, "context_window": 200_000}),
            _CHOICE,
            {
                "schema_dialect": "anthropic_inline",
                "limits": (CLAUDE_LIMITS,),
                "strict_tools": True,
                "prompt_cache": True,
                "thinking": "anthropic",
                "thinks_by_default": False,
                "forces_while_thinking": False,
                "thinks_after_unsigned_calls": False,
                "sampling_while_thinking": CLAUDE_SAMPLING,
                "dropped": frozenset[str](),
            },
        ),
        ModelRule(
            "*amazon.nova*",
            _CONVERSE.model_copy(update=_ALL_CHOICES),
            _CHOICE,
            {"searches_by": "web_search_options"},  # the system tool `nova_grounding`
        ),
        ModelRule("*mistral.*", _CONVERSE.model_copy(update={"tool_choice_required": True}), _CHOICE),
        ModelRule("*meta.llama*", _CONVERSE, "Amazon Bedrock user guide: Supported models"),
        ModelRule(
            "*deepseek.r1*",
            Capabilities(native_tools=False, json_schema=False, json_object=False, reasoning=True, web_search=False),
            "Amazon Bedrock user guide: Supported models (DeepSeek-R1: no tool use)",
        ),
    ),
    schema_dialect="inline_defs",  # LiteLLM inlines what is named, and sends recursion without what it names
    names=NameRule(first="A-Za-z", source="Amazon Bedrock API reference: ToolSpecification, [a-zA-Z][a-zA-Z0-9_-]*, at most 64"),
    ids=IdRule(characters="A-Za-z0-9_.:-", source="Amazon Bedrock API reference: ToolUseBlock, toolUseId at most 64"),
    dropped=frozenset({"parallel_tool_calls"}),
    media={"image": MediaRule(own_urls=("s3://",), in_results=True), "file": MediaRule(in_results=True)},
    one_system_message=True,
    declares_called_tools=True,
    extra_body="arguments",
)
