"""What the tests of the patches share: LiteLLM as it is without one, and a place that is part of a call of ours.

Each patch has a test that LiteLLM without the patch still has the fault. If that test fails, delete the patch.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module

import pytest

from llmcore.adapters.litellm.engine import litellm_now
from llmcore.adapters.litellm.patches.diagnostics import filter_warnings
from llmcore.adapters.wire.traffic_watch import TrafficWatch
from llmcore.types import DEFAULT_LIMITS

Unpatch = Callable[[str], None]


@pytest.fixture
def unpatch(monkeypatch: pytest.MonkeyPatch) -> Unpatch:
    """Put back, for this test, LiteLLM's own functions that the patches of a module replaced."""
    litellm_now()

    def put_back(module: str) -> None:
        for patch in import_module(f"llmcore.adapters.litellm.patches.{module}").PATCHES:
            assert patch.is_applied()
            owner = patch.find_owner()
            other = patch.name[1:] if patch.name.startswith("_") else f"_{patch.name}"
            for spelling in (patch.name, other):
                function = getattr(owner, spelling, None)
                if function is not None and hasattr(function, "__wrapped__"):
                    is_static = isinstance(inspect.getattr_static(owner, spelling), staticmethod)
                    original = function.__wrapped__
                    monkeypatch.setattr(owner, spelling, staticmethod(original) if is_static else original)
            assert not patch.is_applied()

    return put_back


def watched() -> AbstractContextManager[None]:
    """The block is a part of a call of ours."""
    filter_warnings()
    return TrafficWatch(DEFAULT_LIMITS, streamed=False, known=True).active()
