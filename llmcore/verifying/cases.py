"""The cases of a verification, from `cases.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from llmcore.types import Message, Request, ToolDefinition

__all__ = ["Case", "Question", "questions"]

_MAX_TOKENS = 2048
"""The tokens of an answer. Reasoning models need this many."""


@dataclass(frozen=True, slots=True)
class Case:
    """Prompts that are about one thing. The comment of `cases.toml` describes the fields."""

    name: str
    prompts: Sequence[str]
    tools: Sequence[str]
    calls: int
    names: Sequence[str] = ()
    arguments: Sequence[Mapping[str, Any]] = ()
    answer: str = ""
    tool_choice: Any = "auto"
    history: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt of a case, asked whole or streamed: one request."""

    case: Case
    prompt: int
    """Its number within the case, from 0."""
    streamed: bool
    tools: tuple[ToolDefinition, ...] = field(repr=False)

    @property
    def arguments(self) -> Mapping[str, Any] | None:
        """The values that some call must have; None if any will do."""
        return self.case.arguments[self.prompt] if self.case.arguments else None

    @property
    def request(self) -> Request:
        history = [Message.model_validate(dict(each)) for each in self.case.history]
        prompt = Message.model_validate({"role": "user", "content": self.case.prompts[self.prompt]})
        return Request(messages=[prompt, *history], tools=self.tools, tool_choice=self.case.tool_choice, max_tokens=_MAX_TOKENS)


@cache
def questions() -> Sequence[Question]:
    """Every request of a verification, in order."""
    return tuple(_questions(tomllib.loads(files(__package__ or "").joinpath("cases.toml").read_text("utf-8"))))


def _questions(table: Mapping[str, Any]) -> Iterator[Question]:
    tools = {name: ToolDefinition(name=name, read_only=True, **fields) for name, fields in table["tools"].items()}
    for case in (Case(**fields) for fields in table["cases"]):
        offered = tuple(tools[name] for name in case.tools)
        for prompt in range(len(case.prompts)):
            yield from (Question(case, prompt, streamed, offered) for streamed in (False, True))
