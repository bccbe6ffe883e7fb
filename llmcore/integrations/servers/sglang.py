"""A detector for SGLang that needs no name of a format (tried with SGLang 0.5.23).

    sglang serve --model-path MODEL --tool-call-parser llmcore

SGLang finds it by the entry point group `sglang.srt.plugins`. It works whole and streamed. In a stream, calls come whole, at the
end. If no reasoning parser took the reasoning before, it stays in the text, in `<think>`: SGLang has no other place for it here.
"""

from __future__ import annotations

from typing import Any

from llmcore.integrations.servers.reader import ParserReply, as_objects, server_module

__all__ = ["LLMCoreDetector", "register"]

_base: Any = server_module("sglang.srt.function_call.base_format_detector")


def register() -> None:
    """Make `llmcore` a choice of `--tool-call-parser`. SGLang calls this when it starts."""
    parser: Any = server_module("sglang.srt.function_call.function_call_parser")
    parser.FunctionCallParser.ToolCallParserEnum["llmcore"] = LLMCoreDetector


class LLMCoreDetector(_base.BaseFormatDetector):  # type: ignore[misc]  # SGLang is not installed where types are checked
    """Reads the calls in a reply, in whatever form its model writes them. SGLang makes one for each reply."""

    _reader: ParserReply | None = None

    def has_tool_call(self, text: str) -> bool:
        """True: only reading tells."""
        return True

    def detect_and_parse(self, text: str, tools: list[Any]) -> Any:
        """Read a whole reply."""
        reader = ParserReply(as_objects(tools), inline_reasoning=True)
        return self._result(reader.feed(text)[0] + reader.finish()[0], reader, tools)

    def parse_streaming_increment(self, new_text: str, tools: list[Any]) -> Any:
        """Read a part of a reply."""
        if self._reader is None:
            self._reader = ParserReply(as_objects(tools), inline_reasoning=True)
        return _base.StreamingParseResult(normal_text=self._reader.feed(new_text)[0])

    def finish(self, tools: list[Any]) -> Any:
        """The rest of the text, and the calls."""
        if (reader := self._reader) is None:
            return _base.StreamingParseResult()
        self._reader = None
        return self._result(reader.finish()[0], reader)

    def _result(self, text: str, reader: ParserReply, tools: list[Any] | None = None) -> Any:
        """`tools`: if given, the index of a call is that of its tool, as SGLang wants it for whole replies."""
        indices: dict[str, int] = {} if tools is None else self._get_tool_indices(tools)
        calls = [
            _base.ToolCallItem(tool_index=n if tools is None else indices.get(name, -1), name=name, parameters=arguments)
            for n, (name, arguments) in enumerate(reader.calls())
        ]
        return _base.StreamingParseResult(normal_text=text, calls=calls)

    def supports_structural_tag(self) -> bool:
        """False: a grammar would need the one form that the model writes."""
        return False

    def parses_required_natively(self) -> bool:
        """True: forced calls are read in the model's own form, too."""
        return True

    def structure_info(self) -> Any:
        """Not called, because there is no structural tag."""
        raise NotImplementedError("llmcore reads every form, so it has no begin and end of one")
