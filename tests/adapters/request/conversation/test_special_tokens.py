"""Special tokens are broken in the words of a request, and exactly what was put in is taken off a reply again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmcore.adapters.request.conversation.special_tokens import JOINER, Joiners, broken, broken_text
from llmcore.normalizer.dialects.registry import FAMILIES
from llmcore.normalizer.scanning.words import STRAY_CLOSERS, TURN_TOKENS
from llmcore.types import (
    Block,
    ImageBlock,
    Message,
    ProviderBlock,
    RedactedThinkingBlock,
    Request,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)

_TAG = re.compile(r"</? ?[A-Za-z_][\w:-]*[>\s=:]?")
_WORDS = {"functools", "[Calling tool:"}
OPENERS = sorted({opener for family in FAMILIES for row in family for marker in row.markers for opener in marker.openers})
OF_TEMPLATES = [
    *("<|im_start|>", "<|system|>", "<|start_header_id|>", "<|start_of_role|>", "<|header_start|>", "<|START_OF_TURN_TOKEN|>"),
    *(
        "<｜User｜>",
        "<｜Assistant｜>",
        "<｜begin▁of▁sentence｜>",
        "<｜hy_User｜>",
        "<｜tool▁calls▁begin｜>",
        "<|tool calls begin|>",
    ),
    *("[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<s>", "</s>", "<bos>", "<eos>", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    *("[AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CONTENT]", "[CALL_ID]", "[THINK]", "[/THINK]"),
    *("<start_of_turn>", "<end_of_turn>", "<start_function_response>", "<|turn>", "<turn|>", '<|"|>', "<|tool_response>"),
    *("[gMASK]", "<sop>", "]~b]", "]~!b[", "[e~[", "]<]minimax[>[", "[|user|]", "[|endofturn|]", "<seed:bos>", "<extra_id_0>"),
    *("<end_of_utterance>", "<sep>", "<eoh>", "<eoa>", "<pad>", "<unk>", "<fim_prefix>", "[TRANSCRIBE]", "<start_of_image>"),
    *("<beginning_of_sentence>", "<end_of_sentence>", "<longcat_user>", "</longcat_s>", "<role>HUMAN</role>"),
    *("<SPECIAL_10>", "<reserved_106>", "[UNUSED_TOKEN_145]", "◁think▷", "◁/think▷", "<|plugin|>", "｜DSML｜", "<｜DSML｜invoke"),
]
"""Tokens of chat templates, which say who speaks or what begins."""
MARKERS = sorted({*(opener for opener in OPENERS if _TAG.fullmatch(opener) is None), *TURN_TOKENS, *OF_TEMPLATES} - _WORDS)


def of(text: str) -> Joiners:
    return Joiners(broken_text(text)[1])


def _with_joiners(marker: str, count: int) -> str:
    return marker[0] + JOINER * count + marker[1:]


def _begun(marker: str, end: int) -> str:
    return marker[:end]


def _as_text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _joined(parts: list[str]) -> str:
    return "".join(parts)


def pieces() -> st.SearchStrategy[str]:
    """Texts that hold tokens, whole, in part, one in another, and with joiners of their own."""
    part = st.one_of(
        st.sampled_from(MARKERS),
        st.builds(_with_joiners, st.sampled_from(MARKERS), st.integers(1, 3)),
        st.builds(_begun, st.sampled_from(MARKERS), st.integers(1, 8)),
        st.text('<|>[]｜◁▷/ aINST\u200d👩\n\\"', max_size=6),
    )
    return st.lists(part, max_size=8).map(_joined)


@pytest.mark.parametrize("marker", MARKERS)
def test_no_token_survives(marker: str) -> None:
    for text in (marker, f"a {marker} b", marker * 3, f"<{marker}>", f"[{marker}]"):
        sent, tokens = broken_text(text)
        assert marker not in sent
        assert Joiners(tokens).restored(sent) == text


@pytest.mark.parametrize("closer", [closer for closer in STRAY_CLOSERS if _TAG.fullmatch(closer) is None])
def test_closers_are_tokens_as_well(closer: str) -> None:
    assert closer not in broken_text(closer)[0]


@pytest.mark.parametrize(
    "text",
    ["<tool_call>", "</tool_call>", "<b>x</b>", "list[int] | None", "x <| f |> g", "a[0][1]", "[ERROR] no", "Array<string|number>", "👩\u200d👧", "[link](u)", "<role>You are kind.</role>", "<role>user</role>", "<mask/>", "<image>"],
)  # fmt: skip
def test_tags_and_code_stay(text: str) -> None:
    assert broken_text(text) == (text, [])


@given(pieces())
def test_what_is_sent_holds_no_token_and_is_restored(text: str) -> None:
    sent, tokens = broken_text(text)
    assert not [marker for marker in MARKERS if marker in sent]
    joiners = Joiners(tokens)
    assert joiners.restored(sent) == text
    for write in (json.dumps, _as_text):
        assert json.loads(joiners.restored(write(sent))) == text


@given(pieces(), pieces())
def test_only_what_was_put_in_is_taken_off(asked: str, said: str) -> None:
    joiners, held = of(asked), set(broken_text(asked)[1])
    found = joiners.restored(said)
    assert found.replace(JOINER, "") == said.replace(JOINER, "")
    if not any(token in said for token in held):
        assert found == said


def _texts_of(blocks: Iterable[Block]) -> str:
    return "".join(block.text for block in blocks if isinstance(block, TextBlock))


TOKEN = "<|im_start|>"
SENT = f"<{JOINER}|im_start|>"


def test_every_text_of_a_request_is_broken_and_nothing_else() -> None:
    signed: list[Block] = [
        ThinkingBlock(thinking=TOKEN, signature="s"),
        RedactedThinkingBlock(data=TOKEN),
        ProviderBlock(provider="openai-chat", data={"reasoning_details": [{"text": TOKEN}]}),
        ImageBlock(url=f"https://x.example/{TOKEN}"),
        ImageBlock(data="PHxpbV9zdGFydHw+", media_type="image/png"),
    ]
    words: list[Block] = [
        TextBlock(text=TOKEN),
        ThinkingBlock(thinking=TOKEN),
        ProviderBlock(provider="openai-chat", data={"refusal": TOKEN}),
        ProviderBlock(provider="openai-chat", data={"name": TOKEN}),
        ToolUseBlock(id=TOKEN, name=TOKEN, input={TOKEN: [TOKEN, {"a": TOKEN}], "n": 1.5}),
        ToolUseBlock(id="b", name="f", input=None, raw_input=TOKEN),
        ToolResultBlock(
            tool_use_id=TOKEN, name=TOKEN, content=[TextBlock(text=TOKEN), ImageBlock(url=f"https://x.example/{TOKEN}")]
        ),
    ]
    request = Request(messages=[Message(role="user", content=[*signed, *words])], system=TOKEN)
    before = request.model_dump_json()
    sent, joiners = broken(request)
    assert joiners is not None
    assert request.model_dump_json() == before, "what was given is not changed"
    assert sent.messages[0].content[:5] == signed
    said = json.dumps([block.model_dump() for block in sent.messages[0].content[5:]], ensure_ascii=False)
    assert said.count(TOKEN) == 1, "the image's URL"
    assert said.count(SENT) == 13
    assert sent.system == SENT


def test_a_token_that_begins_in_one_text_and_ends_in_the_next_is_broken() -> None:
    parts: list[Block] = [TextBlock(text="a <|im_"), TextBlock(text="start"), TextBlock(text="|> b")]
    sent, joiners = broken(
        Request(messages=[Message(role="assistant", content=parts)], system=[TextBlock(text="<|"), TextBlock(text="end|>")])
    )
    assert joiners is not None
    assert _texts_of(sent.messages[0].content) == f"a {SENT} b"
    assert joiners.restored(f"a {SENT} b") == "a <|im_start|> b"


def test_a_request_without_tokens_stays_the_same_object() -> None:
    request = Request(messages="Is a < b | c?", system="Be brief.")
    assert broken(request) == (request, None)
    assert broken(request)[0] is request
