"""Warnings and tracebacks of LiteLLM's own code: LiteLLM shows them, and the patched one does not."""

from __future__ import annotations

import json
import logging
import warnings
from importlib import import_module
from typing import Any

import pytest
from pydantic import TypeAdapter

from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.litellm.engine import litellm_now
from llmcore.adapters.litellm.patches.diagnostics import PATCHES, filter_warnings
from llmcore.adapters.litellm.patches.patch import Patch
from llmcore.normalizer import normalize
from tests.adapters.conftest import call_of, endpoint_at
from tests.adapters.litellm.patches.conftest import Unpatch, watched
from tests.helpers.wire_server import Raw, WireServer

pytestmark = pytest.mark.anyio

DUMPS = [patch for patch in PATCHES if patch.name == "model_dump"]


def dumped(patch: Patch) -> list[str]:
    """What Python warns of when LiteLLM dumps a reply with text in the place of a list."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        model = patch.find_owner().model_construct(choices="model speaks")
        model.model_dump()
    return [str(warning.message) for warning in warned]


@pytest.mark.parametrize("patch", DUMPS, ids=lambda patch: patch.owner)
async def test_a_dump_warns_and_quotes_the_reply(patch: Patch, unpatch: Unpatch) -> None:
    unpatch("diagnostics")
    assert "model speaks" in str(dumped(patch))


@pytest.mark.usefixtures("unpatch")
@pytest.mark.parametrize("patch", DUMPS, ids=lambda patch: patch.owner)
async def test_a_patched_dump_does_not_warn(patch: Patch) -> None:
    assert dumped(patch) == []


ODD_TEXT = [{"type": "text", "text": "Hello."}]
ODD: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"content": ODD_TEXT}, {}),
    ({"content": "Hello.", "refusal": ODD_TEXT, "function_call": ODD_TEXT, "annotations": "said"}, {}),
    ({"content": "Hello."}, {"id": ODD_TEXT, "model": ODD_TEXT, "system_fingerprint": ODD_TEXT, "created": ODD_TEXT}),
]


@pytest.mark.parametrize("provider", ["openai", "openai_compatible"])
@pytest.mark.parametrize(("message", "top"), ODD)
async def test_fields_of_other_types_cost_no_warning_that_quotes_them(
    adapter: LiteLLMAdapter, provider: str, message: dict[str, Any], top: dict[str, Any]
) -> None:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    body = json.dumps({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], **top}).encode()
    with warnings.catch_warnings(record=True) as warned, WireServer([Raw([body])]) as server:
        warnings.filterwarnings("always", category=UserWarning)
        reply = await adapter.complete(call_of(endpoint_at(server, provider)))
    assert normalize(reply).content == "Hello."
    assert [warning for warning in warned if issubclass(warning.category, UserWarning)] == []


def odd_counts() -> None:
    usage = litellm_now().Usage()
    usage.prompt_tokens = "many"
    usage.model_dump()


def typed_dicts() -> None:
    openai: Any = import_module("litellm.types.llms.openai")
    TypeAdapter(openai.ChatCompletionReasoningItem)


@pytest.mark.parametrize("cause", [odd_counts, typed_dicts])
@pytest.mark.parametrize("filtered", [False, True], ids=["LiteLLM's own", "filtered"])
async def test_pydantic_warns_of_litellms_models(cause: Any, filtered: bool) -> None:
    litellm_now()
    with warnings.catch_warnings(record=True) as warned:
        warnings.resetwarnings()
        warnings.simplefilter("always")
        if filtered:
            filter_warnings()
        cause()
    assert (warned == []) is filtered


@pytest.mark.parametrize(
    "words",
    [
        "Item 'total' on TypedDict class '_Usage' is using the `ReadOnly` qualifier. Pydantic will not protect items",
        "Items 'a', 'b' on TypedDict class 'Usage' are using the `ReadOnly` qualifier. Pydantic will not protect items",
    ],
)
def test_what_pydantic_says_of_litellms_typed_dicts_is_no_error(words: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        filter_warnings()
        warnings.warn(words, UserWarning, stacklevel=1)
        with pytest.raises(UserWarning, match="of yours"):
            warnings.warn("an item on TypedDict class of yours", UserWarning, stacklevel=1)


def logged() -> None:
    try:
        raise ValueError("broken")
    except ValueError:
        logging.getLogger("LiteLLM").exception("Failed to load")


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> logging.Logger:
    litellm_now()
    log = logging.getLogger("LiteLLM")
    monkeypatch.setattr(log, "level", log.level)
    log.setLevel(logging.ERROR)
    return log


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "LiteLLM"]


@pytest.mark.usefixtures("log")
async def test_litellm_logs_tracebacks(caplog: pytest.LogCaptureFixture, unpatch: Unpatch) -> None:
    unpatch("diagnostics")
    with watched():
        logged()
    assert told(caplog) == ["Failed to load"]


async def test_tracebacks_of_a_call_of_ours_are_shown_at_debug_alone(
    caplog: pytest.LogCaptureFixture, log: logging.Logger
) -> None:
    with watched():
        logged()
        log.error("Without one")
    assert told(caplog) == ["Without one"]
    logged()
    log.setLevel(logging.DEBUG)
    with watched():
        logged()
    assert told(caplog) == ["Without one", "Failed to load", "Failed to load"]
