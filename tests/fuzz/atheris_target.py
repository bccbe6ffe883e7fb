"""The fuzzer that is guided by coverage: atheris drives the grammar of `mixing`, the oracle judges (`make fuzz`).

    python -m tests.fuzz.atheris_target --setup          atheris into .fuzz/site, which only this script sees, and a corpus
    python -m tests.fuzz.atheris_target --seeds FOLDER   a corpus alone (.clusterfuzzlite/build.sh)
    python -m tests.fuzz.atheris_target [options of libFuzzer] [corpus folder]
    python -m tests.fuzz.atheris_target --show FILE      shrink what a crash file holds, and write it down as a case

A crash file (`crash-...`) is the bytes of decisions; `--show` turns it into a text.
"""

from __future__ import annotations

import importlib
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # nothing of the engine may be imported before it is instrumented
    from tests.fuzz.case import Case

__all__ = ["main"]

_FOLDER = Path(__file__).parents[2] / ".fuzz"
_SITE = _FOLDER / "site"
_PIN = "atheris==3.0.0"
_SEEDS = 100
_PATIENCE = 20.0
"""Instrumented code is slow, and libFuzzer runs beside other work."""


class _ByteChoices:
    """Decisions by the bytes that libFuzzer mutates."""

    def __init__(self, provider: Any) -> None:
        self._provider = provider

    def number(self, low: int, high: int) -> int:
        return int(self._provider.ConsumeIntInRange(low, high))

    def text(self, length: int) -> str:
        return str(self._provider.ConsumeUnicode(length))


def _atheris() -> Any:
    sys.path.append(str(_SITE))
    try:
        return importlib.import_module("atheris")
    except ImportError:
        raise SystemExit("atheris is not there: run `make fuzz` (python -m tests.fuzz.atheris_target --setup)") from None


def _case(atheris: Any, data: bytes) -> Case:
    from tests.fuzz.mixing import make_case

    return make_case(_ByteChoices(atheris.FuzzedDataProvider(data)))


def _fuzz(arguments: list[str]) -> None:
    atheris = _atheris()
    with atheris.instrument_imports(include=["llmcore.normalizer"]):
        from tests.fuzz import mixing as mixing  # "as": imported for what it imports
        from tests.fuzz.oracle import judge

    def one(data: bytes) -> None:
        judge(_case(atheris, data), chunkings=1, patience=_PATIENCE)

    atheris.Setup([sys.argv[0], *arguments], one)
    atheris.Fuzz()


def _show(path: Path) -> None:
    from tests.fuzz.oracle import judge
    from tests.fuzz.random_mix import FOUND, report
    from tests.fuzz.shrinking import failure, shrink

    case = _case(_atheris(), path.read_bytes())
    kind = failure(judge, case)
    if kind is None:
        print(f"nothing fails any more: {case!r}")
    else:
        report(kind, shrink(judge, case), path.name, FOUND)


def _install() -> None:
    if not (_SITE / "atheris").is_dir():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "--target", str(_SITE), _PIN], check=True)
    _write_seeds(_FOLDER / "corpus")


def _write_seeds(corpus: Path) -> None:
    corpus.mkdir(parents=True, exist_ok=True)
    for seed in range(_SEEDS):  # a text takes some hundred decisions: libFuzzer would be long in finding that out
        (corpus / f"seed-{seed}").write_bytes(random.Random(seed).randbytes(512))  # no secret


def main() -> None:
    match sys.argv[1:]:
        case ["--setup"]:
            _install()
        case ["--seeds", folder]:
            _write_seeds(Path(folder))
        case ["--show", path]:
            _show(Path(path))
        case arguments:
            _fuzz(arguments)


if __name__ == "__main__":
    main()
