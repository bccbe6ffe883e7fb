"""What docs/performance.md says that `make bench` measures, it does."""

from __future__ import annotations

import re

from tests.packaging.tree import ROOT

_PAGE = (ROOT / "docs" / "performance.md").read_text("utf-8")
_RULE = re.compile(r"^bench: .*\n((?:\t.*\n)+)", re.MULTILINE)


def test_make_bench_runs_what_the_page_says() -> None:
    said = re.findall(r"^\| `make bench`, or `python -m (benchmarks\.\w+)` \|", _PAGE, re.MULTILINE)
    rule = _RULE.search((ROOT / "Makefile").read_text("utf-8"))
    assert rule is not None
    assert {"benchmarks.normalize", "benchmarks.first"} <= set(said)
    assert set(re.findall(r"-m (benchmarks\.\w+)", rule[1])) == set(said)


def test_every_benchmark_it_names_exists() -> None:
    for module in re.findall(r"python -m benchmarks\.(\w+)", _PAGE):
        assert (ROOT / "benchmarks" / f"{module}.py").exists(), module
