"""A tool parser for vLLM that needs no name of a format (tried with vLLM 0.33).

    vllm serve MODEL --enable-auto-tool-choice --tool-parser-plugin llmcore.integrations.servers.vllm --tool-call-parser llmcore

It works whole and streamed, with a reasoning parser and without. In a stream, calls come whole, at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llmcore.integrations.servers.reader import ParserReply, as_objects, server_module

__all__ = ["LLMCoreToolParser"]

_parsers: Any = server_module("vllm.tool_parsers.abstract_tool_parser")
_protocol: Any = server_module("vllm.entrypoints.generate.base.protocol")


@_parsers.ToolParserManager.register_module("llmcore")
class LLMCoreToolParser(_parsers.ToolParser):  # type: ignore[misc]  # vLLM is not installed where types are checked
    """Reads the calls in a reply, in whatever form its model writes them."""

    engine_based_streaming = True
    """vLLM calls `finish_streaming` only if this is true."""
    supports_required_and_named = False
    """If this were true, vLLM would read forced calls itself, as JSON."""

    _reader: ParserReply | None = None
    """Of the streamed reply. vLLM makes a parser for each reply."""

    def adjust_request(self, request: Any) -> Any:
        """Keep special tokens in the text: many forms begin with one."""
        if request.tools and request.tool_choice != "none":
            request.skip_special_tokens = False
        return _parsers.ToolParser.adjust_request(self, request)

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        """Read a whole reply. vLLM has no place for reasoning here, so it stays in the content, in `<think>`."""
        reader = _reader_for(request, inline_reasoning=True)
        text = reader.feed(model_output)[0] + reader.finish()[0]
        calls = [
            _protocol.ToolCall(function=_protocol.FunctionCall(name=name, arguments=arguments))
            for name, arguments in reader.calls()
        ]
        return _protocol.ExtractedToolCallInformation(tools_called=bool(calls), tool_calls=calls, content=text or None)

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> Any:
        """Read a part of a reply. Only `delta_text` counts, since a reasoning parser may have taken what stands before it."""
        if self._reader is None:
            self._reader = _reader_for(request)
        return _delta(*self._reader.feed(delta_text))

    def finish_streaming(self) -> Any:
        """The rest of the text, and the calls."""
        if (reader := self._reader) is None:
            return None
        self._reader = None
        content, reasoning = reader.finish()
        calls = [
            _protocol.DeltaToolCall(
                index=index,
                id=_protocol.make_tool_call_id(),
                type="function",
                function=_protocol.DeltaFunctionCall(name=name, arguments=arguments),
            )
            for index, (name, arguments) in enumerate(reader.calls())
        ]
        return _delta(content, reasoning, calls)


def _reader_for(request: Any, *, inline_reasoning: bool = False) -> ParserReply:
    choice = request.tool_choice
    choice = choice if choice is None or isinstance(choice, str) else choice.model_dump()
    return ParserReply(as_objects(request.tools), choice, inline_reasoning=inline_reasoning)


def _delta(content: str, reasoning: str, calls: Sequence[object] = ()) -> Any:
    if not (content or reasoning or calls):
        return None
    return _protocol.DeltaMessage(content=content or None, reasoning=reasoning or None, tool_calls=[*calls])
