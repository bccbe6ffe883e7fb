"""Test doubles that ship: a scripted model, a recorded one, and a guard against real requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmcore.lazy_names import lazy_names

if TYPE_CHECKING:
    from llmcore.testing.blocking import block_model_requests as block_model_requests
    from llmcore.testing.fake import FakeModel as FakeModel
    from llmcore.testing.replay import ReplayAdapter as ReplayAdapter
    from llmcore.testing.replay_all import replaying as replaying

if not TYPE_CHECKING:
    _NAMES_BY_MODULE = {
        "blocking": "block_model_requests",
        "fake": "FakeModel",
        "replay": "ReplayAdapter",
        "replay_all": "replaying",
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _NAMES_BY_MODULE)
