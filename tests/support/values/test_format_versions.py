"""Versions of saved formats: older data is upgraded step by step, and newer data is refused."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.support.values.format_versions import FormatVersions


def _first(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "steps": [1]}


def _second(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "steps": [*data["steps"], 2]}


THREE = FormatVersions("letters", (_first, _second))


@pytest.mark.parametrize(
    ("given", "steps"),
    [({}, [1, 2]), ({"version": None}, [1, 2]), ({"version": 1}, [1, 2]), ({"version": 2, "steps": []}, [2])],
)
def test_older_data_is_upgraded_step_by_step_and_not_changed(given: dict[str, Any], steps: list[int]) -> None:
    before = dict(given)
    assert THREE.upgraded(given) == {"version": 3, "steps": steps}
    assert given == before


@pytest.mark.parametrize("given", [{"version": 3, "steps": []}])
def test_data_of_the_current_version_is_the_same_object(given: dict[str, Any]) -> None:
    assert THREE.upgraded(given) is given
    assert FormatVersions("notes").upgraded({}) == {}


@pytest.mark.parametrize(
    ("versions", "version", "words"),
    [
        (THREE, 4, "`version` 4 is not known: this llmcore reads letters of versions 1 to 3; upgrade llmcore"),
        (THREE, 0, "`version` 0 is not known: this llmcore reads letters of versions 1 to 3"),
        (FormatVersions("notes"), True, "`version` True is not known: this llmcore reads notes of version 1"),
        (FormatVersions("notes"), ["x"], "`version` of another kind is not known: this llmcore reads notes of version 1"),
    ],
)
def test_a_version_that_is_not_known_is_named(versions: FormatVersions, version: Any, words: str) -> None:
    with pytest.raises(ValueError, match="is not known") as error:
        versions.upgraded({"version": version})
    assert str(error.value) == words
