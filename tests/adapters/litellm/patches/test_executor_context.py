"""Work for LiteLLM's threads: LiteLLM loses the context of who gives it, and the patched one keeps it."""

from __future__ import annotations

from contextvars import ContextVar
from importlib import import_module
from typing import Any

import pytest

from tests.adapters.litellm.patches.conftest import Unpatch

_where = ContextVar("_where", default="nowhere")


def seen_in_a_thread() -> str:
    threads: Any = import_module("litellm.litellm_core_utils.thread_pool_executor")
    token = _where.set("in a call")
    try:
        answer: str = threads.executor.submit(_where.get).result(timeout=30)
        return answer
    finally:
        _where.reset(token)


def test_litellm_loses_the_context(unpatch: Unpatch) -> None:
    unpatch("executor_context")
    assert seen_in_a_thread() == "nowhere"


@pytest.mark.usefixtures("unpatch")
def test_the_patched_one_keeps_it() -> None:
    assert seen_in_a_thread() == "in a call"
