"""Writes `fixtures/dialects/*.jsonl` and the numbers of `docs/corpus.md` anew, after a change of a dialect or a sample.

.venv/bin/python -m tests.corpus
"""

from __future__ import annotations

from .files import FOLDER, contents
from .page import PAGE, with_numbers

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.jsonl"):
        path.unlink()
    for name, text in contents().items():
        (FOLDER / name).write_text(text, "utf-8", newline="\n")
        print(f"{name}: {text.count(chr(10))} rows")
    PAGE.write_text(with_numbers(PAGE.read_text("utf-8")), "utf-8", newline="\n")
