"""Markers that open no call: turn tokens, closers of wrappers, answer wrappers, citation marks, echoed tools and results."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import cast

from llmcore.normalizer.bare.verdicts import rest_is_blank
from llmcore.normalizer.bodies.json_bodies import body_extent
from llmcore.normalizer.bodies.sections import closer_after_markup
from llmcore.normalizer.core.names import is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Marker, Reader
from llmcore.normalizer.scanning.source import Steps, match_within, search, skip_space, wait_for, wait_for_one
from llmcore.normalizer.scanning.words import COLONS, TURN_TOKENS
from llmcore.normalizer.trust.judging import CERTAIN
from llmcore.normalizer.trust.quoted_results import ELEMENTS
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["MARKERS"]

_ANSWER_WRAPPERS = (
    "<|START_TEXT|>",
    "<|END_TEXT|>",
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
    "<｜tool▁output▁begin｜>",
    "<｜tool▁output▁end｜>",
    "<co>",
    "</co>",
)
_ROLES = "(?:user|assistant|model|system|tool|ipython|developer|human)"
_HEADER = lazy_regex(
    rf"(?:<\|im_start\|>|<start_of_turn>|<\|turn>){_ROLES}(?=[\r\n])|<\|start_header_id\|>{_ROLES}<\|end_header_id\|>"
    rf"|<\|header_start\|>{_ROLES}<\|header_end\|>|<\|{_ROLES}\|>|<\|im_{_ROLES}\|>[a-z]{{0,16}}+<\|im_middle\|>"
    r"|<\|START_OF_TURN_TOKEN\|><\|(?:USER|SYSTEM|CHATBOT)_TOKEN\|>"
)
"""Headers of turns, as chat templates write them."""
_HEADER_OPENERS = (
    *("<|start_header_id|>", "<|header_start|>", "<start_of_turn>", "<|turn>", "<|user|>", "<|assistant|>", "<|system|>"),
    *("<|im_user|>", "<|im_assistant|>", "<|im_system|>", "<|START_OF_TURN_TOKEN|>"),
)
_LONGEST_HEADER = 64
_CITATION_END = r"</co:[^<>\n]{0,64}>"


def _token(reading: Reading, at: int, body: int) -> bool:
    """Read a token and its repetitions right behind it: a model that does not stop writes many."""
    text = reading.src.text
    token = text[at:body]
    while reading.is_unshared(token) and text.startswith(token, body):
        body += len(token)
    reading.text(at)
    reading.markup(body)
    return True


def _header(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read the header of a turn behind the end of another, or behind a call. It is markup."""
    if not reading.blank_before(at) or not (reading.has_content() or reading.drafts):
        return False
    header = yield from match_within(reading.src, _HEADER, at, _LONGEST_HEADER)
    if header is None:
        return False
    reading.text(at)
    reading.markup(header.end())
    return True


def _chat_token(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<|im_start|>` in the header of a further turn, in the place of a call's tag, or after a call."""
    if (yield from _header(reading, at, body)):
        return True
    follows_text = not reading.blank_before(at)
    first = not reading.has_content() and not reading.drafts and not follows_text
    if first:
        body = yield from skip_space(reading.src, body)
    after_call = bool(reading.drafts) and not follows_text
    if not after_call and not (first and reading.src.text.startswith("{", body)):
        return False
    reading.text(at)
    reading.markup(body)
    return True


def _span(closer: str, kind: str) -> Reader:
    """A reader that takes everything up to the closer as `kind`, never as a call. Without a closer, the opener is text.

    A "result" is content. Behind a call, the model made it up, and it is markup.
    """
    pattern = re.compile(re.escape(closer))

    def read(reading: Reading, at: int, body: int) -> Steps[bool]:
        match = yield from search(reading.src, pattern, body, len(closer))
        if match is None:
            return False
        reading.text(at)
        made_up = kind == "result" and bool(reading.drafts)
        reading.take("markup" if kind == "markup" or made_up else "content", match.end())
        reading.result_follows()
        return True

    return read


_TOOLS_END = re.compile("</tools>")


def _tools(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read the wrapper of the prompt's list of tools, which is content.

    Models that learnt from such prompts also write calls in it, and llama.cpp reads them. If it holds only calls of known
    tools, they are guesses. One call that is all of the message is certain.
    """
    start = yield from skip_space(reading.src, body)
    if reading.src.text.startswith("{", start):  # a string of the object may hold the closer
        start = (yield from body_extent(reading, start, ())).end
    match = yield from search(reading.src, _TOOLS_END, start, len("</tools>"))
    if match is None:
        return False
    stop, end, match = match.start(), match.end(), None  # a match keeps its text alive
    inner = reading.nest(reading.src.text[body:stop])
    reading.text(at)
    if inner.drafts and not inner.has_content and all(is_known(draft.name, reading.tools) for draft in inner.drafts):
        verdict = reading.verdict_at(at, "tag")
        if not verdict.shown and verdict.quotation is None:
            is_all = len(inner.drafts) == 1 and reading.opens_message(at) and (yield from rest_is_blank(reading, end))
            if not is_all:
                reading.set_verdict(replace(verdict.decided(), doubt="in_list_of_tools"))
            reading.adopt(inner, at, end)
            reading.set_verdict(CERTAIN, passes_on=False)
            return True
        reading.miss(at, end, inner.drafts[0].name, verdict.shown or "quoted")
    reading.take("content", end)
    return True


_LONGEST_ATTRIBUTES = 256


def _result(name: str) -> Reader:
    """A reader of an element around a result, with or without attributes. If a tool has its name, it is a call."""
    span = _span(f"</{name}>", "result")

    def read(reading: Reading, at: int, body: int) -> Steps[bool]:
        if is_known(name, reading.tools):
            return False
        if not reading.src.text.startswith(">", body - 1):
            yield from wait_for_one(reading.src, body, _LONGEST_ATTRIBUTES, ">", "<")
            if ">" not in reading.src.text[body : body + _LONGEST_ATTRIBUTES].partition("<")[0]:
                return False
        return (yield from cast("Steps[bool]", span(reading, at, body)))

    return read


_RETURN = re.compile("✿RETURN✿")
_RESULT_LABEL = re.compile(rf"[ \t]*+[{''.join(COLONS)}]?\s*+\Z")


def _flower_result(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `✿RESULT✿`, which ends a turn of Qwen-Agent, or a made-up result up to `✿RETURN✿`."""
    match = yield from search(reading.src, _RETURN, body, len(_RETURN.pattern))
    if match is None and _RESULT_LABEL.match(reading.src.text, body) is None:
        return False
    reading.text(at)
    reading.markup(len(reading.src.text) if match is None else match.start())
    if match is not None:
        reading.result_follows()
    return True


def _flower_return(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `✿RETURN✿: `, which precedes the answer."""
    end = yield from skip_space(reading.src, body)
    if reading.src.text[end : end + 1] in COLONS:
        end = yield from skip_space(reading.src, end + 1)
    reading.text(at)
    reading.markup(end)
    return True


def _answer(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<answer>` or `<response>` at the beginning of the answer. It is markup, and so is its closer."""
    if reading.has_content() or not reading.blank_before(at):
        return False
    yield from wait_for(reading.src, body, 1)
    reading.text(at)
    reading.markup(body + reading.src.text.startswith("\n", body))
    reading.open_answer(reading.src.text[at:body])
    return True


def _answer_end(reading: Reading, at: int, body: int) -> bool:
    if not reading.close_answer(reading.src.text[at:body]):
        return False
    reading.text(at)
    reading.markup(body)
    return True


_WRAPPER_ENDS = ("</tool_calls>", "</ifm|tool_calls>", "</tool_call>", "</seed:tool_call>", "</minimax:tool_call>")
"""Closers of the wrappers of several families."""
_SPACED_NAME = (
    r"(?:[a-z]{1,16}[:|]|[｜|‖]{1,2}[A-Z]{4}[｜|‖]{1,2} ?)?(?:[a-z]{2,8}_)?"
    r"(?:tool_call|function_call|tool_use|calls|TOOLCALL|function|invoke|parameter|param)s?(?::\w{1,32})?"
)
_SPACED_END = rf"</(?: {{1,4}}{_SPACED_NAME} {{0,4}}|{_SPACED_NAME} {{1,4}})>"
"""A closer with blanks in it."""
_SPACED_BEGINS = (
    *("</ ", "</tool", "</function", "</invoke", "</param", "</calls", "</TOOLCALL", "</longcat", "</dots", "</iquest"),
    *("</seed:", "</minimax:", "</atem:", "</ifm|", "</｜DSML", "</｜GCML"),
)

MARKERS = (
    Marker(closer_after_markup, _WRAPPER_ENDS, calls=True),
    Marker(closer_after_markup, pattern=_SPACED_END, begins=_SPACED_BEGINS, calls=True),
    Marker(_token, (*TURN_TOKENS, *_ANSWER_WRAPPERS), order=9),
    Marker(_chat_token, ("<|im_start|>", "<?xml ?>")),
    Marker(_header, _HEADER_OPENERS, order=9),
    Marker(_token, pattern=_CITATION_END, begins=("</co:",)),
    Marker(_span("<｜tool▁outputs▁end｜>", "markup"), ("<｜tool▁outputs▁begin｜>",)),
    *(Marker(_result(name), (f"<{name}>", f"<{name} ")) for name in ELEMENTS),
    Marker(_span("[/TOOL_RESULTS]", "result"), ("[TOOL_RESULTS]",)),
    Marker(_span("<tool_response|>", "result"), ("<|tool_response>",)),
    Marker(_flower_result, ("✿RESULT✿",)),
    Marker(_flower_return, ("✿RETURN✿",)),
    Marker(_tools, ("<tools>",)),
    Marker(_span("<|tool_list_end|>", "content"), ("<|tool_list_start|>",)),
    Marker(_span("</available_tools>", "content"), ("<available_tools>",)),
    Marker(_answer, ("<answer>", "<response>")),
    Marker(_answer_end, ("</answer>", "</response>")),
)
