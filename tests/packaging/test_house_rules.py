"""The rules of the house that no linter holds: no code run from text, size of files and functions, `__all__`.

Each rule is a function from a parsed file to its offences, tried on small samples below, then on the whole tree.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.packaging.tree import ROOT, python_files, source_files

MAX_FILE_LINES = 700
MAX_FUNCTION_LINES = 80
GENERATED = "# @generated"  # first line of a file of data that a script wrote: it may be of any length

BANNED = {
    "eval": "runs text as code",
    "exec": "runs text as code",
    "compile": "makes code from text",
    "yaml.load": "builds arbitrary objects; use yaml.safe_load",
    "yaml.unsafe_load": "builds arbitrary objects; use yaml.safe_load",
    "yaml.full_load": "builds more than plain data; use yaml.safe_load",
    "pickle": "runs code while loading",
    "dill": "runs code while loading",
    "marshal": "crashes on hostile input",
    "shelve": "is pickle",
    "jinja2": "makes code of a template",
    "litellm.proxy": "is the server, with a security history of its own",
}


def dotted(node: ast.expr) -> str:
    """`a.b.c` of an attribute chain; "" where the chain starts with something else than a name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = dotted(node.value)
        return f"{head}.{node.attr}" if head else ""
    return ""


def _names_used(node: ast.Call | ast.Import | ast.ImportFrom) -> list[str]:
    """The dotted names that a call or an import reaches."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    name = dotted(node.func)
    if name.rpartition(".")[2] in {"import_module", "__import__"}:
        return [arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    return [name]


def _offence(name: str) -> str | None:
    """Why a dotted name may not be used; a banned module bans what is below it."""
    name = name.removeprefix("builtins.").removeprefix("__builtins__.")
    for banned_name, reason in BANNED.items():
        if name == banned_name or name.startswith(banned_name + "."):
            return f"{banned_name} {reason}"
    return None


def banned(tree: ast.AST) -> Iterator[str]:
    """Calls that run text as code, and imports of what does; one offence for a call or an import statement."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call | ast.Import | ast.ImportFrom):
            offence = next(filter(None, map(_offence, _names_used(node))), None)
            if offence:
                yield f"line {node.lineno}: {offence}"


def long_functions(tree: ast.AST) -> Iterator[str]:
    """Functions over the limit, counted from the first decorator's end to the last line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > MAX_FUNCTION_LINES:
                yield f"line {node.lineno}: {node.name} has {lines} lines, the limit is {MAX_FUNCTION_LINES}"


_MODELS = frozenset({"F1", "K2", "K3", "M1", "M2", "M3", "Q1", "R1", "S1", "V2", "V3", "V4"})
"""Codes that are names of models, such as MiniMax-M2 and DeepSeek R1, and the F1 score."""
_CODE = re.compile(r"\b[A-Z]\d{1,2}\b")
_ELSEWHERE = re.compile(r"\b[Ff]amil(?:y|ies) [A-Z]\b|\bdesign(?: section|:|\.md\b)|\buser's document\b")


def _words(text: str) -> Iterator[tuple[int, str]]:
    """The docstrings (of attributes, too) and comments of a file, each with its line."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def codes(text: str) -> Iterator[str]:
    """What only readers of a document that is not here would understand."""
    for line, words in _words(text):
        yield from (f"line {line}: {code}" for code in _CODE.findall(words) if code not in _MODELS)
        yield from (f"line {line}: {found}" for found in _ELSEWHERE.findall(words))


def lacks_all(tree: ast.Module) -> bool:
    """True for a module that has something to export and does not say what."""
    hidden = [within for node in tree.body if isinstance(node, ast.If) for within in node.body]  # from type checkers
    targets = (
        target
        for node in [*tree.body, *hidden]
        for target in (node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)])
    )
    if any(isinstance(name, ast.Name) and name.id == "__all__" for target in targets if target for name in ast.walk(target)):
        return False
    return any(not isinstance(node, ast.Expr) for node in tree.body)


def lacks_docstring(tree: ast.Module) -> bool:
    return not ast.get_docstring(tree)


@cache
def offences() -> dict[str, list[str]]:
    """What the tree breaks, by rule. Each file is parsed once for all of them, and none is kept: together they are large."""
    found: dict[str, list[str]] = {rule: [] for rule in ("code", "length", "exports", "docstring", "words")}
    of_source = set(source_files())
    for path in python_files():
        text = path.read_text("utf-8")
        name, tree = relative(path), ast.parse(text, str(path))
        found["code"] += (f"{name}: {offence}" for offence in banned(tree))
        found["length"] += (f"{name}: {offence}" for offence in long_functions(tree))
        if path in of_source:
            found["exports"] += [name] * (path.name != "__main__.py" and lacks_all(tree))
            found["docstring"] += [name] * lacks_docstring(tree)
            found["words"] += (f"{name}: {offence}" for offence in codes(text))
    return found


def is_generated(path: Path) -> bool:
    return path.read_text("utf-8").startswith(GENERATED)


def text_files() -> list[Path]:
    """Whatever somebody reads: code, pages, settings, the lock."""
    at_the_top = [path for path in ROOT.iterdir() if path.is_file() and not path.name.startswith(".")]
    pages = [path for folder in ("docs", "scripts", ".ci") for path in (ROOT / folder).rglob("*") if path.is_file()]
    return sorted({*python_files(), *at_the_top, *(path for path in pages if path.suffix not in {".pyc", ".png"})})


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_nothing_runs_text_as_code() -> None:
    assert offences()["code"] == []


def test_words_need_no_document_that_is_not_here() -> None:
    assert offences()["words"] == []


@pytest.mark.parametrize(
    "text",
    [
        '"""Family D: a name."""',
        "x = 1  # (A10)",
        '"""Reads W5 bodies."""',
        "# see design section 5",
        '"""The design: layer 1."""',
    ],
)
def test_a_code_of_another_document_is_seen(text: str) -> None:
    assert len(list(codes(text))) == 1


def test_names_of_models_and_texts_are_no_codes() -> None:
    assert list(codes('"""Kimi K2, DeepSeek R1."""\nx = "W5"  # UTF8, SHA256\n')) == []


def test_each_module_of_the_normaliser_has_a_name_of_its_own() -> None:
    names = Counter(
        path.name for path in source_files() if relative(path).startswith("normalizer/") and path.name != "__init__.py"
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_no_file_names_the_host_of_a_package_registry() -> None:
    """Which registry packages come from is set by whoever installs them."""
    hosts = [".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"))]
    offences = [f"{relative(path)}: {host}" for path in text_files() for host in hosts if host in path.read_text("utf-8")]
    assert offences == []


def test_files_are_short() -> None:
    lengths = {relative(path): path.read_text("utf-8").count("\n") for path in python_files() if not is_generated(path)}
    assert {path: lines for path, lines in lengths.items() if lines >= MAX_FILE_LINES} == {}


def test_functions_are_short() -> None:
    assert offences()["length"] == []


def test_modules_say_what_they_export() -> None:
    assert offences()["exports"] == []


def test_files_open_with_what_they_are_for() -> None:
    assert offences()["docstring"] == []


@pytest.mark.parametrize(
    "code",
    [
        "eval('1')",
        "builtins.exec(text)",
        "compile(text, '', 'exec')",
        "import pickle",
        "from jinja2.sandbox import SandboxedEnvironment",
        "import yaml\nyaml.load(text)",
        "from yaml import load",
        "from builtins import eval",
        "from litellm import proxy",
        "import litellm.proxy.utils",
        "importlib.import_module('litellm.proxy')",
    ],
)
def test_the_ban_sees(code: str) -> None:
    assert len(list(banned(ast.parse(code)))) == 1


@pytest.mark.parametrize("code", ["re.compile('x')", "ast.literal_eval(text)", "yaml.safe_load(text)", "import litellm"])
def test_the_ban_lets_pass(code: str) -> None:
    assert list(banned(ast.parse(code))) == []


def test_a_long_function_is_seen() -> None:
    body = "\n".join(["    x = 1"] * MAX_FUNCTION_LINES)
    assert list(long_functions(ast.parse(f"def long():\n{body}\n"))) != []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('"""Doc."""', False),
        ('"""Doc."""\nX = 1', True),
        ('"""Doc."""\nX = 1\n__all__ = ["X"]', False),
        ('"""Doc."""\n__all__: list[str] = []\nX = 1', False),
        ('"""Doc."""\nX = 1\nif not TYPE_CHECKING:\n    __all__ = ["X"]', False),
        ('"""Doc."""\nif not TYPE_CHECKING:\n    __all__, __getattr__ = lazy_names()', False),
    ],
)
def test_a_missing_all_is_seen(code: str, expected: bool) -> None:
    assert lacks_all(ast.parse(code)) is expected
