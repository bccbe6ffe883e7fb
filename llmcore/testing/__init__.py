"""Test doubles that ship: a scripted model, a recorded one, and a guard against real requests."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llmcore.testing.blocking import block_model_requests as block_model_requests
    from llmcore.testing.fake import FakeModel as FakeModel
    from llmcore.testing.replay import ReplayAdapter as ReplayAdapter

_LAZY = {"FakeModel": "fake", "ReplayAdapter": "replay", "block_model_requests": "blocking"}

__all__ = ["FakeModel", "ReplayAdapter", "block_model_requests"]


if not TYPE_CHECKING:  # a checker takes each name for one of a module that has it

    def __getattr__(name: str) -> object:
        if name in _LAZY:
            value: object = getattr(import_module(f"llmcore.testing.{_LAZY[name]}"), name)
            globals()[name] = value
            return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
