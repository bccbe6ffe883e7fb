"""The versions of a saved format: data of an older version is upgraded, and data of a newer one is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["FormatVersions"]

_LONGEST_SHOWN = 40


@dataclass(frozen=True, slots=True)
class FormatVersions:
    """The versions of a format. `what`: its name in errors, a plural.

    `upgrades[n - 1]` turns data of version `n` into data of version `n + 1`, without changing what it is given. To make a new
    version, append its upgrade, and add a fixture of it: the tests read one of every version.
    """

    what: str
    upgrades: tuple[Callable[[dict[str, Any]], dict[str, Any]], ...] = ()

    @property
    def current(self) -> int:
        """The version that this llmcore writes. Versions count from 1."""
        return len(self.upgrades) + 1

    def upgraded(self, data: dict[str, Any]) -> dict[str, Any]:
        """The data in the current version. Data without a `version` is of version 1. Raises `ValueError` for a version that is
        not known."""
        version = data.get("version")
        number = 1 if version is None else version
        if type(number) is not int or not 1 <= number <= self.current:
            raise ValueError(
                f"`version` {_shown(version)} is not known: this llmcore reads {self.what} of {self._readable(number)}"
            )
        for upgrade in self.upgrades[number - 1 :]:
            data = upgrade(data)
        return data if number == self.current else {**data, "version": self.current}

    def _readable(self, given: Any) -> str:
        readable = "version 1" if self.current == 1 else f"versions 1 to {self.current}"
        return f"{readable}; upgrade llmcore" if type(given) is int and given > self.current else readable


def _shown(version: Any) -> str:
    short = isinstance(version, int | float | str) and len(str(version)) <= _LONGEST_SHOWN
    return repr(version) if short else "of another kind"
