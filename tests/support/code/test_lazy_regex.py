"""Expressions that are compiled when they are first used are like any others, and all of them compile."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from typing import Any, cast

import pytest

import llmcore.normalizer
from llmcore.support.code.lazy_regex import lazy_regex


def test_it_is_what_it_compiles_to() -> None:
    expression, compiled = lazy_regex(r"(?P<word>\w+) x", re.IGNORECASE), re.compile(r"(?P<word>\w+) x", re.IGNORECASE)
    assert isinstance(expression, re.Pattern)
    assert expression.pattern == compiled.pattern
    for way in ("match", "fullmatch", "search"):
        found = getattr(expression, way)("One X")
        assert found is not None
        assert found["word"] == "One"
    assert expression.findall("a x b x") == ["a", "b"]
    assert expression.sub("-", "a x b x") == "- -"
    assert [found[0] for found in expression.finditer("a x b x")] == ["a x", "b x"]
    assert (expression.groups, dict(expression.groupindex)) == (1, {"word": 1})
    assert {expression: 1}[expression] == 1
    with pytest.raises(AttributeError):
        _ = cast("Any", expression).compiled


def test_a_mistake_shows_when_it_is_used() -> None:
    broken = lazy_regex("(")
    with pytest.raises(re.error):
        broken.match("")


def test_all_of_the_normaliser_compile() -> None:
    found = 0
    for module in pkgutil.walk_packages(llmcore.normalizer.__path__, "llmcore.normalizer."):
        for value in vars(importlib.import_module(module.name)).values():
            for one in cast("tuple[object, ...]", value if isinstance(value, tuple) else (value,)):
                if isinstance(one, re.Pattern):
                    cast("re.Pattern[str]", one).match("")
                    found += 1
    assert found > 300


def test_a_process_compiles_few() -> None:
    code = """
import re
compiled, compiler = [], re._compiler.compile
re._compiler.compile = lambda pattern, flags=0: compiled.append(pattern) or compiler(pattern, flags)
import llmcore
llmcore.normalize("It is sunny.", [])
print(len(compiled))
"""
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert int(said.stdout) < 150
