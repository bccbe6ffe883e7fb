"""Sentences by which a server takes a part of a request on a condition only: so many tools, streams without tools, tools without
their results. What is learnt of them is the condition. Every repetition is bounded.
"""

from __future__ import annotations

# ruff: noqa: RUF001 - the letters are those of the languages
import re
from collections.abc import Iterator

from llmcore.adapters.base import ModelCall
from llmcore.adapters.capabilities.facts import most_tools
from llmcore.adapters.litellm.denials_abroad import NOUNS_ABROAD
from llmcore.adapters.litellm.held_parts import holds
from llmcore.adapters.request.output import output_plan, tools_of
from llmcore.types.late import late

__all__ = ["conditions_refused", "streams_alone"]

_TOOLS = r"(?:tools?|functions?)\b(?![ _-]?(?:calls?|choices?|use|results?))"
_NUMBER = r"(?P<{}>\d{{1,4}}|one\b|a single\b)"
_AT_MOST_ABROAD = (
    r"(?:\b(?:höchstens|maximal|maximum|au plus|au maximum|como máximo|un máximo|no máximo|máximo|al massimo|massimo|не более"
    r"|максимум|hooguit|högst|en fazla|najwyżej|maksymalnie)\b|最多|至多|最大|최대)"
)
_NOUN_ABROAD = rf"(?:{NOUNS_ABROAD['tools']})"
_MOST = late(
    r"\b(?:at most|no more than|up to|maximum(?: number)?|limit(?:ed)?|only|exceeds?)"
    rf"(?: (?:of|to|is|the|maximum|limit|supports?)){{0,3}} {_NUMBER.format('before')} {_TOOLS}"
    rf"|\b{_TOOLS}[^.;\n]{{0,60}}\b(?:at most|no more than|up to|maximum|max|limit|exceeds?)[^\d.;\n]{{0,30}}"
    rf"{_NUMBER.format('behind')}"
    rf"|{_AT_MOST_ABROAD} {{0,2}}(?:de |a )?{_NUMBER.format('abroad')}[ 个個]{{0,2}}(?:{_TOOLS}|{_NOUN_ABROAD})"
    rf"|(?:\btools?\b|{_NOUN_ABROAD})[^.;\n。]{{0,40}}{_AT_MOST_ABROAD}[^\d.;\n]{{0,10}}{_NUMBER.format('after')}"
    rf"|\btools\b[^;\n]{{0,20}}array too long[^;\n]{{0,40}}maximum length {_NUMBER.format('array')}"
)
"""How many tools are taken; the last form is OpenAI's."""
_OF_CALLS = late(
    r"\b(?:called|invoked|executed|triggered)\b|\b(?:tool|function)[ _-]calls?\b"
    r"|\bcalls? (?:at most|only|no more|up to|just|one|a single|\d)\b"
    r"|\b(?:per|in (?:a|an|one|each|the same|a single)|each|every|within (?:a|one)) (?:single )?"
    r"(?:turn|reply|response|message|step|round|answer|go)\b|\bat (?:a|one|the same) time\b|\bat once\b|\bin parallel\b"
    r"|\b(?:pro|je) (?:runde|antwort|zug|schritt|nachricht)\b|\bauf einmal\b|\bgleichzeitig|\baufgerufen\b"
    r"|\bpar (?:tour|réponse|étape)\b"
    r"|\bà la fois\b|\bpor (?:turno|respuesta|resposta|vez|paso)\b|\ba la vez\b|\b(?:per|a) (?:turno|risposta|volta|passo)\b"
    r"|\bza (?:turę|razem)\b|\bза (?:ход|раз|шаг|ответ)\b|\bодновременно\b"
    r"|每(?:轮|輪|次|个?回[复答])|同[时時]|一[度回]に|同時に|턴당|한 번에|동시에"
)
"""Words about how many tools are called in a turn, not about how many there may be."""
_NEVER = r"(?:not|\w{0,5}n['\u2019]t|cannot|never|unsupported|incompatible|disabled|without)\b"
_STREAM = r"(?<![\w-])stream(?:s|ed|ing)?\b(?: (?:mode|responses?|requests?|replies))?"
_CALLING = r"(?:(?:tool|function)s?\b(?:[ _-]?(?:calls?|calling|use))?)"
_BESIDE = r"\b(?:in|with|when|while|alongside|together with|beside|if)\b(?: (?:using|the|any|are|is)){0,2}"
_STREAMED_TOOLS = late(
    rf"{_STREAM}[^.;\n]{{0,60}}{_BESIDE} {_CALLING}|{_CALLING}[^.;\n]{{0,60}}{_BESIDE} {_STREAM}"
    rf"|{_CALLING} and {_STREAM}|{_STREAM} and {_CALLING}|{_CALLING} {_STREAM}"
)
_ROLE = r"(?:message )?roles?['\"`]?:? ?['\"`]?"
_ONE_ROLE = "'(?:system|user|assistant|developer)'"
_NO_RESULTS = late(
    rf"(?:unexpected|unknown|invalid|unsupported|unrecogni[sz]ed|illegal) {_ROLE}tool\b"
    rf"|\b{_ROLE}tool['\"`]? (?:is |are )?(?:{_NEVER}|unknown|invalid)"
    r"|['\"`]tool['\"`] (?:role )?is not (?:one of|a valid|supported|allowed)"
    rf"|\btool (?:role|messages?|results?)\b[^.;\n]{{0,30}}{_NEVER}(?: be)?"
    r" (?:supported|allowed|accepted|permitted|available|implemented)"
    rf"|{_NEVER} (?:support|accept|allow|take|know) (?:the )?(?:role )?['\"`]?tool['\"`]? (?:role|messages?|results?)"
    rf"|input should be {_ONE_ROLE}(?:, {_ONE_ROLE}){{0,3}} or {_ONE_ROLE}"
)
"""The messages that hold results are not taken."""


_STREAMS_ALONE = late(
    r"\bonly (?:supports?|accepts?|allows?|takes?|works? (?:with|in))(?: the)? ['\"`]?stream(?:s|ing|ed)?\b"
    r"|\bonly (?:support|accept|allow)s? ['\"`]?stream\b|\bmust be streamed\b|\bstream(?:ing)?['\"`]? must be (?:set to )?true\b"
    r"|\bnon-stream(?:ing|ed)?(?: (?:mode|requests?|responses?|calls?))? (?:is|are) "
    r"(?:not (?:supported|allowed)|unsupported|disabled)\b"
    r"|\b(?:please )?set stream ?= ?true\b"
)


def streams_alone(text: str) -> bool:
    """Does the text (lower case) say that requests are taken as streams only?"""
    return _STREAMS_ALONE.search(text) is not None


def _is_of_calls(text: str, found: re.Match[str]) -> bool:
    """Does the sentence that names a number say how many tools are called in a turn?"""
    before, behind = re.split(r"[.;\n。]", text[: found.start()])[-1], re.split(r"[.;\n。]", text[found.end() :])[0]
    return _OF_CALLS.search(f"{before}{found[0]}{behind}") is not None


def conditions_refused(text: str, call: ModelCall | None) -> Iterator[str]:
    """What the text (lower case) says is taken on a condition that the request does not meet, as it is learnt."""
    if call is None or call.mode != "native_tools" or call.capabilities is None:
        return
    offered = len(tools_of(call, output_plan(call, call.capabilities)))
    if (found := _MOST.search(text)) and _is_of_calls(text, found):
        if holds("parallel_tools", call):
            yield "parallel_tools"
    elif found:
        said = next(number for number in found.groups() if number)
        most = int(said) if said.isdecimal() else 1
        if 0 < most < offered:
            yield most_tools(most)
    beside = next((one for one in re.split(r"[.;\n]", text) if _STREAMED_TOOLS.search(one) and re.search(_NEVER, one)), None)
    if offered and call.streamed and beside is not None:
        yield "streaming_with_tools"
    if any(message.tool_results for message in call.request.messages) and _NO_RESULTS.search(text):
        yield "tool_results"
