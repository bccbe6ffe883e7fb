"""`docs/models.md` names every key there is, and says the defaults as they are."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.adapters.base import Prices
from llmcore.models import Deployment, ModelConfig
from llmcore.models.config import DEFAULT_MODES
from llmcore.models.reading import document_of
from llmcore.tools.config import ToolConfig
from llmcore.types import Budget, ConfigError, RetryConfig
from tests.packaging.tree import ROOT

TEXT = (ROOT / "docs" / "models.md").read_text("utf-8")


def section(title: str) -> str:
    return TEXT.partition(f"## {title}\n")[2].partition("\n## ")[0]


KEYS = section("A model's keys")
OF_A_MODEL, _, BELOW = KEYS.partition("A deployment (")
OF_A_DEPLOYMENT = BELOW.partition("`prices` has")[0]
OF_PRICES, _, OF_TOOLS = BELOW.partition("`prices` has")[2].partition("| key of `tools`")
RETRY = next(line for line in OF_TOOLS.splitlines() if line.startswith("| `retry`"))


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (ModelConfig, OF_A_MODEL),
        (Deployment, OF_A_DEPLOYMENT),
        (Prices, OF_PRICES),
        (ToolConfig, OF_TOOLS),
        (RetryConfig, RETRY),
        (Budget, section("Budgets, and the most requests of a run")),
    ],
)
def test_every_key_is_named(model: type[BaseModel], text: str) -> None:
    assert not {name for name in model.model_fields if f"`{name}`" not in text}


@pytest.mark.parametrize(("model", "text"), [(ModelConfig, OF_A_MODEL), (ToolConfig, OF_TOOLS)])
def test_no_other_key_is_named_and_defaults_are_those_there_are(model: type[BaseModel], text: str) -> None:
    rows = re.findall(r"^\| (`[^|]*`) \| ([^|]*) \|", text, re.MULTILINE)
    assert len(rows) > 7
    for names, default in rows:
        for name in re.findall(r"`(\w+)`", names):
            field: Any = model.model_fields[name]
            if re.fullmatch(r"`?(true|false|[\d,]+)`?", default.strip()):
                told = default.strip(" `").replace(",", "")
                assert str(field.get_default()).lower().removesuffix(".0") == told, name


def test_the_sections_and_modes_are_those_there_are() -> None:
    named = re.findall(r"^\| `llm\.(\w+)` ", section("The sections"), re.MULTILINE)
    document_of({"llm": dict.fromkeys(named)}, "the page", {})
    with pytest.raises(ConfigError) as caught:
        document_of({"llm": {"other": {}}}, "the page", {})
    assert set(str(caught.value).partition("there are ")[2].split(", ")) == set(named)
    modes = re.findall(r"^\| `(\w+)` \|", section("Output modes"), re.MULTILINE)
    assert modes == list(DEFAULT_MODES)
