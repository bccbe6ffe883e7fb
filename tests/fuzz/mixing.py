"""Makes texts that look like what models write, gone wrong: writers' output, openers, closers, JSON, fences and reasoning, mixed.

A `Choices` decides everything, so that a random generator and a coverage-guided fuzzer can drive the same grammar.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.rows import Calls
from llmcore.normalizer.dialects.registry import DIALECTS, marker_table
from tests.fuzz.case import TOOLS, Case
from tests.normalizer.helpers import sample_files, samples

__all__ = ["Choices", "RandomChoices", "make_case"]

_T = TypeVar("_T")


class Choices(Protocol):
    """Where decisions come from."""

    def number(self, low: int, high: int) -> int:
        """`low` to `high`, both included."""
        ...

    def text(self, length: int) -> str:
        """At most `length` characters of any kind."""
        ...


class RandomChoices:
    """Decisions by a seeded random generator."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)  # reproducible texts, no secret

    def number(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def text(self, length: int) -> str:
        draw = self._random
        ranges = (
            (32, 126),
            (32, 126),
            (0, 31),
            (0xA0, 0x2FF),
            (0x2500, 0x25FF),
            (0xD800, 0xDFFF),
            (0xFF00, 0xFF60),
            (0x1F600, 0x1F640),
        )
        return "".join(chr(draw.randint(*draw.choice(ranges))) for _ in range(draw.randint(0, length)))


def _pick(choices: Choices, options: Sequence[_T]) -> _T:
    return options[choices.number(0, len(options) - 1)]


def _one_in(choices: Choices, n: int) -> bool:
    return choices.number(1, n) == 1


_NAMES = (
    "get_weather",
    "read_file",
    "ping",
    "run",
    "functions.run",
    "run:0",
    "unknown_tool",
    "Get-Weather",
    "parameter",
    "name",
    "a.b",
)
_WORDS = (
    "I'll look it up:", "Hello", "the", "call", "get_weather", "Sure.", "Result:", "e.g.", "no", "x = 1", "if a < b:", "a[0]", "f(x)", "null",
    "None", "true", "Observation:", "Thought:", "Action:", "Action Input:", "Final Answer:", "Note", "TODO", "user", "assistant", "tool_call",
    "```", "`", "``", "~~~", "> ", "- ", "# ", "| a | b |", "$x$", "http://a.b/c?d=1&e=2", "&lt;", "&amp;", "<b>", "</b>", "<br/>", "<!-- c -->",
    "<x", "<", ">", "=", ":", ",", ";", "|", "\\", "/", '"', "'", '"""', "'''", "\\n", '\\"', "\\u00e9", "\\ud83d", "(", ")", "[", "]", "{", "}",
    "\n", "\n\n", "\r\n", " ", "    ", "\t", "\0", "é", "漢字", "😀", "\ud83d", "｜", "▁", "◁", "▷", "\u2028", "\ufeff", "\x1c", "\x85",
)  # fmt: skip
_FENCES = (
    "```\n", "```json\n", "```python\n", "```tool_call\n", "```tool_code\n", "```xml\n", "```function_call\n", "````\n", "```JSON\r\n", "``` json\n",
    "```bash\n", "~~~\n", "  ```\n", "> ```\n", "`",
)  # fmt: skip
_REASONING = (
    ("<think>", "</think>"), ("<think>\n", "\n</think>\n\n"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]"), ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis<|message|>", "<|end|>"), ("<seed:think>", "</seed:think>"), ("<mm:think>", "</mm:think>"), ("", "</think>"),
    ("<think:ab12>", "</think:ab12>"), ("<|START_THINKING|>", "<|END_THINKING|>"), ("<reasoning>", "</reasoning>"), ("<thought>", "</thought>"),
    ("<|content_thinking|>", "<|end_message|>"), ("<|open|>think<|sep|>", "<|close|>think<|sep|>"), ("<|channel>thought\n", "<channel|>"),
)  # fmt: skip
_MADE_UP = (
    ("<tool-use>", "</tool-use>"), ("<do>\n", "\n</do>"), ("<td>", "</td>"), ("&lt;tool_call&gt;", "&lt;/tool_call&gt;"),
    ("<|act|>", "<|end_act|>"), ("CALL_BLOCK>>>\n", "\n<<<END_CALL_BLOCK>>>"), ("<do> ", " </done>"),
)  # fmt: skip
_JSON_BITS = (
    '{"name": "ping", "arguments": {}}', '{"name": "get_weather", "arguments": {"city": "Paris"}}', '{"name": "run"', '"arguments": {',
    '{"name": "run", "parameters": {"code": "', '{"function": {"name": "ping", "arguments": "{}"}}', '{"tool_calls": [', '{"toolCalls": [',
    '{"content": "hi", "toolCalls": []}', '"needsMoreWork": true', '"name":', '"ping"', '{"a": 1, "a": 2}', "{'a': None}", "{a: 1}", "[1, 2,]",
    "{}", "[]", "[{}]", "[{", "}]", "}}", '{"', '"}', '": "', ", ", ": ", "1e400", "-", "01", "1" * 30, "NaN", "/* c */", "// c\n", "\\u12",
    "0x1F", "0b1", "1_000", "1,000", "1/3", "2 * 3", "9e9", "2**9", ".5", "+1", "about 5", "1" * 400, "0x" + "f" * 400,
    '{"city": "<tool_call>"}', '{"properties": {"city": "Rome"}}', '{"city": "Rome", "days": "3"}', '["ping()"]', "[ping()]", "ping()",
    "get_weather(city='Paris', days=3)", "run(code='''a\nb''', env={'A': 1})", "[get_weather(city=", "read_file('a.txt', lines=[1, 2])",
    "print(default_api.ping())", "ping{}", "ping\n{}", "x = ping()", "ping(**{'a': 1})", "ping(ping())", 'get_weather(city="a\\"b")',
)  # fmt: skip
_SCALARS: tuple[Any, ...] = (
    "Paris", "", " ", "a\nb\n", "\n", "3", "true", "null", "it's", 'say "hi"', "C:\\new\\", "{}", "[1]", "é😀", "a < b && c > d", "<br>", "```x```",
    "</think>", "<tool_call>", "x" * 90, 0, 3, -7, 2.5, True, False, None, 10**18, "<|call|>", "]", "}", "...", "<your city>", "\\", "'", '"', "#",
)  # fmt: skip


def _openers() -> tuple[str, ...]:
    return tuple(sorted(marker_table(None).literals))


_TAG = re.compile(r"</?[^\s<>]{1,60}>|\]<\]\w+\[>\[</?\w+>|\[/?[A-Z_]{3,24}\]|<[\w:｜|]+ [^<>]{1,60}>")


def _written_tags() -> tuple[str, ...]:
    """Every tag and token that a writer of the registry uses: closers, inner ones, and openers that are spelled by pattern."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("get_weather", {"city": "Paris", "days": 3}),
        ("run", {"code": "x", "env": {"A": [1]}}),
    ]
    found = {tag for row in DIALECTS.values() for tag in _TAG.findall(row.write(calls[:1] if row.single else calls))}
    return tuple(sorted(found))


_OPENERS, _TAGS, _DIALECTS = _openers(), _written_tags(), tuple(DIALECTS)
_SAMPLES = tuple(sample.text for file in sample_files() for sample in samples(file))


def _value(choices: Choices, depth: int = 0) -> Any:
    kind = choices.number(0, 9 if depth < 3 else 6)
    if kind == 0:
        return choices.text(12)
    if kind <= 5:
        return _pick(choices, _SCALARS)
    if kind == 6:
        return _pick(choices, (*_OPENERS, *_TAGS))
    if kind <= 8:
        return {
            _pick(choices, ("a", "b", "name", "arguments", "")): _value(choices, depth + 1) for _ in range(choices.number(0, 2))
        }
    return [_value(choices, depth + 1) for _ in range(choices.number(0, 3))]


def _call(choices: Choices) -> tuple[str, dict[str, Any]]:
    if _one_in(choices, 4):
        keys = ("city", "days", "path", "a", "name", "arguments", "x y", "<k>", "")
        return _pick(choices, _NAMES), {_pick(choices, keys): _value(choices) for _ in range(choices.number(0, 3))}
    return _told_call(choices)


def _told_call(choices: Choices) -> tuple[str, dict[str, Any]]:
    """A call of one of the tools, with its own properties."""
    tool = TOOLS.get(_pick(choices, tuple(sorted(TOOLS.names))))
    assert tool is not None
    return tool.name, {key: _value(choices) for key in tool.properties if key in tool.required or _one_in(choices, 3)}


def _written(choices: Choices) -> str:
    """A dialect's own writing of one to three calls, or a sample. Not every dialect can write every value."""
    if _one_in(choices, 8):
        return _element(choices)
    if _one_in(choices, 6):
        return _pick(choices, _SAMPLES)
    row = DIALECTS[_pick(choices, _DIALECTS)]
    return _by_row(row, [_call(choices) for _ in range(1 if row.single else choices.number(1, 3))])


def _by_row(row: Dialect, calls: Calls) -> str:
    try:
        return row.write(calls)
    except (TypeError, ValueError, KeyError, AttributeError):
        return json.dumps(calls)


def _alone(choices: Choices) -> str:
    """A reply that is one call and nothing else, as most are: the engine has a way of its own for them."""
    return _by_row(DIALECTS[_pick(choices, _DIALECTS)], [_told_call(choices)]) + _pick(choices, ("", "", "\n"))


_ELEMENTS = ("invoke", "function_call", "tool_call", "tool_use", "function", "tool", "call", "action", "toolcall", "use_mcp_tool")
_NAMED_BY = ("name", "name", "tool_name", "function_name", "tool", "function", "action")
_HOLDERS = ("arguments", "parameters", "args", "input", "tool_input", "action_input", "kwargs")
_ARGUMENT_FORMS = (
    "<{key}>{value}</{key}>",
    "<{key}>\n{value}\n</{key}>\n",
    "<{key}>{value}",
    '<parameter name="{key}">{value}</parameter>',
    "<param name='{key}'>{value}</param>\n",
    '<arg name={key} value="{value}"/>',
    '<argument name="{key}" value="{value}"></argument>',
)
_ELEMENT_FORMS = (
    '<{word} {by}="{name}">{body}</{word}>',
    '<{word} id="1" {by}="{name}"{attributes}>\n{body}\n</{word}>',
    "<{word} {by}='{name}'{attributes} />",
    "<{word}>\n<{by}>{name}</{by}>\n{body}\n</{word}>",
    "<{word}><id>c1</id><{by}>{name}</{by}>{body}</{word}>",
    "<{by}>{name}</{by}>\n<{holder}>{body}</{holder}>",
    "<{name}{attributes}/>",
    "<{name}{attributes}>{body}</{name}>",
    "<function={name}>{body}</function>",
    "<{word}>{name}({expression})</{word}>",
)


def _element(choices: Choices) -> str:
    """A call as an element, with the words, the name and the arguments as some prompt may have them."""
    name, given = _call(choices)
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in given.items()}
    form, holder = _pick(choices, _ARGUMENT_FORMS), _pick(choices, _HOLDERS)
    body = json.dumps(given) if _one_in(choices, 3) else "".join(form.format(key=k, value=text) for k, text in texts.items())
    return _pick(choices, _ELEMENT_FORMS).format(
        word=_pick(choices, _ELEMENTS),
        by=_pick(choices, _NAMED_BY),
        name=name,
        holder=holder,
        body=f"<{holder}>{body}</{holder}>" if _one_in(choices, 2) else body,
        attributes="".join(f' {key}="{text}"' for key, text in texts.items()),
        expression=", ".join(f"{key}={value!r}" for key, value in given.items()),
    )


def _around(choices: Choices, text: str) -> str:
    """Put it into something: a fence, reasoning, quotes, a JSON string, another call."""
    kind = choices.number(0, 7)
    if kind <= 1:
        fence = _pick(choices, _FENCES)
        closer = fence.strip("> \r\n").rstrip("abcdefghijklmnopqrstuvwxyz_ JSON") or "```"
        return fence + text + _pick(choices, ("\n", "")) + closer + _pick(choices, ("", "\n"))
    if kind <= 3:
        opener, closer = _pick(choices, _REASONING)
        return opener + text + (closer if not _one_in(choices, 4) else "")
    if kind == 4:
        return json.dumps({"name": "run", "arguments": {"code": text}}, ensure_ascii=_one_in(choices, 2))
    if kind == 5:
        return _pick(choices, _OPENERS) + text + _pick(choices, _TAGS)
    if kind == 6:
        opener, closer = _pick(choices, _MADE_UP)
        return opener + text + closer
    return (
        _pick(choices, ('"', "'", "> ", "`", "(", "Example: ", "<b>")) + text + _pick(choices, ('"', "'", "", "`", ")", "</b>"))
    )


def _piece(choices: Choices) -> str:
    kind = choices.number(0, 19)
    if kind <= 4:
        return _written(choices)
    if kind <= 6:
        return _around(choices, _written(choices))
    if kind <= 8:
        return _pick(choices, _OPENERS)
    if kind <= 10:
        return _pick(choices, _TAGS)
    if kind <= 13:
        return _pick(choices, _JSON_BITS)
    if kind <= 17:
        return _pick(choices, _WORDS)
    if kind == 18:
        return choices.text(8)
    return _pick(choices, _pick(choices, _REASONING))


def _cut_out(choices: Choices, text: str) -> str:
    start = choices.number(0, len(text))
    return text[:start] + text[start + choices.number(1, 12) :]


def _truncate(choices: Choices, text: str) -> str:
    return text[: choices.number(0, len(text))]


def _insert(choices: Choices, text: str) -> str:
    at = choices.number(0, len(text))
    return text[:at] + _piece(choices) + text[at:]


def _double(choices: Choices, text: str) -> str:
    start = choices.number(0, len(text))
    end = start + choices.number(1, 40)
    return text[:end] + text[start:end] + text[end:]


def _flood(choices: Choices, text: str) -> str:
    """One stretch of it over and over."""
    start = choices.number(0, len(text))
    unit = text[start : start + choices.number(1, 24)]
    return text[:start] + unit * choices.number(2, 200) + text[start:]


_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


def _boundary(choices: Choices, text: str) -> int:
    """Where a word, a sign or white space begins."""
    return _pick(choices, [token.start() for token in _TOKEN.finditer(text)] or [0])


def _stretch(choices: Choices, text: str) -> str:
    """A run of one character somewhere: readers that wait for a head wait for so much of it, however it comes."""
    at = _boundary(choices, text)
    character = _pick(choices, (" ", " ", "\n", "\n", "\t", "a", "`", "<", '"', "=", ")", "}", "]", "\\", ">", "é"))
    run = character * _pick(choices, (1, 9, 17, 26, 65, 130, 256, 257, 330, 450, 600, 1025))
    return text[:at] + run + text[at:]


def _tear(choices: Choices, text: str) -> str:
    """A word, a sign or an empty line between two others."""
    at = _boundary(choices, text)
    return text[:at] + _pick(choices, _WORDS) + text[at:]


def _swap_character(choices: Choices, text: str) -> str:
    at = choices.number(0, len(text))
    return text[:at] + _pick(choices, _WORDS)[:1] + text[at + 1 :]


_CHANGES: tuple[Callable[[Choices, str], str], ...] = (
    _cut_out,
    _cut_out,
    _truncate,
    _insert,
    _insert,
    _tear,
    _tear,
    _double,
    _swap_character,
    _around,
)


def make_case(choices: Choices, longest: int = 2_000) -> Case:
    """A text of at most `longest` characters, and what the caller said with it."""
    alone = _one_in(choices, 8)
    text = _alone(choices) if alone else "".join(_piece(choices) for _ in range(choices.number(1, 5)))
    for _ in range(choices.number(0, 1 if alone else 4)):
        text = _pick(choices, _CHANGES)(choices, text)
    if _one_in(choices, 8):
        text = _stretch(choices, text)
    if _one_in(choices, 40):
        text = _flood(choices, text)
    plain = not _one_in(choices, 3)
    return Case(
        text=text[:longest],
        tools=_pick(choices, ("told", "told", "told", "told", "not told", "none offered")),
        dialects=None
        if plain or not _one_in(choices, 4)
        else tuple({_pick(choices, _DIALECTS) for _ in range(choices.number(1, 4))}),
        finish_reason=_pick(choices, (None, None, "stop", "length")),
        reasoning_open=not plain and _one_in(choices, 4),
        forced_tool=_pick(choices, ("get_weather", "ping", "other")) if not plain and _one_in(choices, 4) else None,
        limits="tight" if not plain and _one_in(choices, 4) else _pick(choices, ("default", "few looks")),
    )
