"""`docs/trust.md` says what holds: the reasons of near misses, and what `--explain` says of its reply."""

from __future__ import annotations

import re

import llmcore
from llmcore.cli.explaining.envelopes import explanation
from llmcore.types import ToolDefinition, ToolSet
from tests.packaging.tree import ROOT

TEXT = (ROOT / "docs" / "trust.md").read_text("utf-8")
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def test_the_reasons_are_all_there_in_their_words() -> None:
    section = TEXT.partition("## Near misses")[2].partition("## ")[0]
    assert dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE)) == dict(llmcore.NEAR_MISS_REASONS)


def test_the_reply_is_explained_as_the_page_says() -> None:
    reply, explained = (
        re.findall(rf"^~~~{kind}\n(.*?)^~~~$", TEXT, re.MULTILINE | re.DOTALL)[0] for kind in ("text", "explained")
    )
    tools = ToolSet([ToolDefinition(name="get_weather", parameters=CITY)])
    assert explanation(llmcore.normalize(reply, tools), tools) == explained.rstrip("\n")
