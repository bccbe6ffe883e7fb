"""`Settings`: the caller's facts about one reply, the same for all of its text."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from llmcore.normalizer.dialects.registry import closed_over
from llmcore.normalizer.text.engine import TextEngine
from llmcore.types.limits import DEFAULT_LIMITS, Limits
from llmcore.types.requests import Reply, TextCalls
from llmcore.types.tools import ToolSet

__all__ = ["Settings"]

_NO_TOOLS = ToolSet([])


@dataclass(slots=True)  # not frozen: that would triple the cost of creating one
class Settings:
    """The fields of `Normalizer`. They never change."""

    tools: ToolSet | None = None
    dialects: Collection[str] | None = None
    reasoning_open: bool = False
    forced_tool: str | None = None
    limits: Limits = DEFAULT_LIMITS
    listening: bool = True
    enveloped: bool = False
    taught: str | None = None
    text_calls: TextCalls = "standard"
    own: frozenset[str] | None = None

    def with_facts_of(self, reply: Reply) -> Settings:
        """The settings with the adapter's facts about the reply it returned."""
        return replace(
            self,
            reasoning_open=self.reasoning_open or reply.reasoning_open,
            forced_tool=self.forced_tool or reply.forced_tool,
        )

    def engine(self, *, reasoning_open: bool | None = None) -> TextEngine:
        """A text engine for text of this reply. If `reasoning_open` is None, the caller's value counts."""
        tools, dialects, own = self.tools, self.dialects, self.own
        if self.text_calls == "off":
            tools, dialects = (tools, (self.taught,)) if self.taught else (_NO_TOOLS, dialects)
        elif self.text_calls == "alone":
            own = frozenset((self.taught,)) if self.taught else frozenset[str]()
        return TextEngine(
            tools,
            dialects=dialects,
            reasoning_open=self.reasoning_open if reasoning_open is None else reasoning_open,
            forced_tool=self.forced_tool,
            limits=self.limits,
            listening=self.listening,
            enveloped=self.enveloped,
            taught=self.taught,
            own=None if own is None else closed_over(own),
        )
