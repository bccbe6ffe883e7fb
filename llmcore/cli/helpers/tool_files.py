"""Loads the tools given to a command: a JSON file of tool dicts, or an object of a Python module."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeGuard, cast

from pydantic import BaseModel

from llmcore.types import ConfigError, LLMCoreError, ToolSet

__all__ = ["listed_tools", "load_tools", "tool_objects"]


def load_tools(given: str) -> ToolSet:
    """The tools that `given` names (see `tool_objects`), compiled.

    Raises `ConfigError` for what cannot be read or imported, `ToolDefinitionError` for what is not a tool.
    """
    from llmcore.compiling import compile_tools

    return compile_tools(tool_objects(given))


def tool_objects(given: str) -> list[object]:
    """The tools, not compiled, of `tools.json` (a list of OpenAI or Anthropic tool dicts, or an object with `tools`) or
    `package.module:name` (a tool, a function, a list of them, a registry or a tool set).

    Raises `ConfigError` for what cannot be read or imported.
    """
    module, colon, name = given.partition(":")
    if colon and name and not Path(given).exists():
        with _users_code(module):
            return list(_several(_imported(module, name)))
    return _from_file(Path(given))


def _from_file(path: Path) -> list[object]:
    from llmcore.transcripts.errors import OverLimit
    from llmcore.transcripts.formats.decoding import decode_utf8, load_json, whole_file

    try:
        with path.open("rb") as file:
            data = load_json(decode_utf8(whole_file(file)), unique=True)
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: there is no such file; give a JSON file of tools, or MODULE:OBJECT{_as_module(path)}"
        ) from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except (ValueError, OverLimit) as error:
        raise ConfigError(f"{path}: {error}") from None
    return listed_tools(data, str(path))


def listed_tools(data: object, place: str) -> list[object]:
    """The tools of JSON data: a list of tool dicts, or an object with `tools`. Raises `ConfigError`, which names the place."""
    from llmcore.support.values.narrowing import is_list, is_object
    from llmcore.transcripts.formats.requests import function_tools

    tools = data.get("tools") if is_object(data) else data
    if not is_list(tools):
        raise ConfigError(f"{place}: expected a list of tools, or an object with a list `tools`")
    return list(function_tools(tools))


def _as_module(path: Path) -> str:
    """A hint to write `MODULE:OBJECT`, if the path looks like a module's name or source file."""
    name = ".".join(path.with_suffix("").parts) if path.suffix == ".py" else str(path)
    is_module = path.suffix != ".json" and all(part.isidentifier() for part in name.split("."))
    return f" (`{name}:tools`)" if is_module else ""


@contextmanager
def _users_code(module: str) -> Generator[None]:
    """Turns any exception of a user's module into a one-line error that names the place."""
    try:
        yield
    except (LLMCoreError, KeyboardInterrupt):
        raise
    except ImportError as error:
        raise ConfigError(f"cannot import {module!r}: {error}") from error
    except BaseException as error:
        from llmcore.tools.results.rendering import message_of  # the exception's own `__str__` may fail

        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<")]
        where = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}"
        raise ConfigError(f"cannot import {module!r}: {type(error).__name__} ({where}): {message_of(error)}") from error


def _imported(module: str, name: str) -> object:
    if "" not in sys.path:
        sys.path.insert(0, "")  # a console script does not import from the current folder
    found: object = importlib.import_module(module)
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise ConfigError(f"module {module!r} has no {name!r}") from None
    return found


def _several(found: object) -> Iterable[object]:
    """Tool sets, registries and lists unchanged; an agent's tools; a single tool as a list of one."""
    if callable(list_tools := getattr(found, "list_tools", None)) and not isinstance(found, type):
        return cast("Iterable[object]", list_tools())
    return found if _holds_tools(found) else [found]


def _holds_tools(found: object) -> TypeGuard[Iterable[object]]:
    """Is it an iterable of tools? A tool's dict or definition is iterable too, but yields its keys."""
    return isinstance(found, Iterable) and not isinstance(found, Mapping | BaseModel)
