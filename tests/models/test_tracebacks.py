"""No frame of a `ConfigError` holds a key: pytest prints the arguments of frames, and with `-l` their variables."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from llmcore import ConfigError, ModelConfig, ModelRegistry, Orchestrator

KEY = "-".join(("sk", "x7f3Qm9ZpL2v"))
GOOD: dict[str, Any] = {"provider": "openai", "model": "m", "api_key": KEY}
BROKEN: dict[str, Any] = {**GOOD, "alias": "a", "api_key": f"{KEY}\n"}
BAD = {"models": {"a": {**GOOD, "unknown": 1}}}


def _given() -> Any:
    return ModelConfig(alias="a", **GOOD)


def _set() -> None:
    _given().api_key = KEY


def _positional() -> None:
    kind: Any = ModelConfig
    kind("openai/m", KEY, api_key=KEY)


MISTAKES: dict[str, Callable[[], object]] = {
    "a field is missing": lambda: ModelConfig(**GOOD),
    "a field is unknown": lambda: ModelConfig(alias="a", **GOOD, unknown=1),  # type: ignore[call-arg]
    "nothing but a key": lambda: ModelConfig(**{"api_key": GOOD["api_key"]}),
    "a field that its own check refuses": lambda: ModelConfig(alias="a", **GOOD, base_url="htp://h/v1"),
    "a key with a line break": lambda: ModelConfig(**BROKEN),
    "a key in a URL": lambda: ModelConfig(alias="a", **GOOD, base_url=f"http://u:{KEY}@h/v1"),
    "a field by position": _positional,
    "a field that is set": _set,
    "a copy": lambda: _given().model_copy(update={"unknown": KEY}),
    "settings in the place of a model": lambda: ModelRegistry([cast("Any", GOOD)]),
    "settings": lambda: ModelRegistry.from_dict(BAD),
    "an option": lambda: Orchestrator(_given(), signing_key=KEY, unknown=1),  # type: ignore[call-arg]
}


def _shown(error: BaseException) -> str:
    """The traceback with the variables of llmcore's frames. The first frames are this file's."""
    whole = traceback.TracebackException.from_exception(error, capture_locals=True)
    printed: list[str] = []
    one: traceback.TracebackException | None = whole
    while one is not None:
        printed += [f"{frame.name} {frame.locals}" for frame in one.stack if frame.filename != __file__]
        printed += one.format_exception_only()
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
    return "\n".join(printed)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_no_frame_holds_a_key(mistake: str) -> None:
    with pytest.raises(ConfigError) as caught:
        MISTAKES[mistake]()
    assert KEY not in _shown(caught.value)


def test_no_frame_holds_a_key_of_a_file_or_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    file = tmp_path / "models.yaml"
    for key in (KEY, "${SOME_KEY}"):
        file.write_text(f"models:\n  a: {{provider: openai, model: m, api_key: '{key}', unknown: 1}}\n")
        with pytest.raises(ConfigError) as caught:
            Orchestrator(file)
        assert KEY not in _shown(caught.value)
