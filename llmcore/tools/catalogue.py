"""A catalogue of tools for people and programs: Markdown, OpenAPI 3.1, JSON.

It shows the definitions that a model sees. Names and descriptions may come from untrusted sources, such as an MCP server, so the
Markdown escapes them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal
from urllib.parse import quote

from llmcore.support.code.suggestions import unknown
from llmcore.support.values.json_data import json_data
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.tools.definition.tool import Tool, is_tool
from llmcore.tools.schema.signature import hints_of, schema_of_type
from llmcore.types import ConfigError, JsonSchema, ToolDefinition, ToolSet
from llmcore.types.tools import tools_in

__all__ = ["Format", "catalogue", "openapi"]

Format = Literal["markdown", "openapi", "json"]
_VALUE_KEYWORDS = frozenset({"const", "default", "enum", "example", "examples"})
"""The keywords of a schema whose values are data, not schemas."""
_APPROVALS = {"always": "Needs approval.", "sometimes": "Some calls need approval."}
_SCHEMA_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""The keywords whose values map names to schemas."""
_BOUNDS = {
    "minimum": "At least {}", "maximum": "At most {}", "exclusiveMinimum": "Above {}", "exclusiveMaximum": "Below {}",
    "minLength": "At least {} characters", "maxLength": "At most {} characters", "minItems": "At least {} items",
    "maxItems": "At most {} items", "multipleOf": "A multiple of {}", "pattern": "Pattern {}", "format": "Format {}",
}  # fmt: skip
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&$])")


def catalogue(tools: object, form: Format = "markdown", *, title: str = "Tools", version: str = "1.0.0") -> str:
    """The tools as a text: Markdown, an indented OpenAPI 3.1 document, or an indented JSON list, which `ToolSet` accepts again.

    `tools`: a list, a registry, a tool set, or an `Orchestrator` or `Agent`, whose tools are listed. Dynamic schemas are
    evaluated now.

    Raises `ToolDefinitionError` for what is no tool, and `ConfigError` for an unknown `form`.
    """
    made = _WRITERS.get(form)
    if made is None:
        raise ConfigError(unknown("a catalogue", "form", str(form), _WRITERS))
    return made(list(_listed(tools)), title, version)


def openapi(tools: object, *, title: str = "Tools", version: str = "1.0.0") -> dict[str, Any]:
    """The tools as the data of an OpenAPI 3.1 document: each is `POST /tools/NAME`, with its arguments as the body."""
    return _openapi(list(_listed(tools)), title, version)


class _Entry:
    """One tool of the catalogue: its definition, the schema of its result, and when it needs approval (see `_approval`)."""

    def __init__(self, definition: ToolDefinition, result_schema: JsonSchema | None, approval: str) -> None:
        self.definition = definition
        self.approval = approval
        self.result_schema = result_schema


def _listed(tools: object) -> Iterator[_Entry]:
    listed: Callable[[], Iterable[object]] | None = getattr(tools, "list_tools", None)
    given = list(tools_in(tools if listed is None else listed()))
    by_name = {tool.name: tool for tool in given if is_tool(tool)}
    for tool in ToolSet(given):
        found = by_name.get(tool.name)
        yield _Entry(
            tool.definition,
            None if found is None else _result_schema(found.function, found.options.postprocess),
            _approval(found),
        )


def _result_schema(function: Any, postprocess: Any) -> JsonSchema | None:
    """The schema of a function's annotated result; None without an annotation, or if `postprocess` may change the result."""
    if function is None or postprocess is not None:
        return None
    with suppress(Exception):  # a return type need not have a schema
        hints = hints_of(function, "", returned=True)
        if "return" in hints:
            return schema_of_type(hints["return"])
    return None


# JSON and OpenAPI


def _as_json(tools: list[_Entry], title: str, version: str) -> str:
    return _json_text([entry.definition.model_dump(mode="json", exclude_defaults=True) for entry in tools])


def _as_openapi(tools: list[_Entry], title: str, version: str) -> str:
    return _json_text(_openapi(tools, title, version))


def _json_text(data: Any) -> str:
    return json.dumps(json_data(data), indent=2, ensure_ascii=False) + "\n"


def _openapi(tools: list[_Entry], title: str, version: str) -> dict[str, Any]:
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for entry in tools:
        arguments = _add_schema(schemas, f"{entry.definition.name}_arguments", entry.definition.parameters)
        result: dict[str, Any] = {"description": "What the tool returns."}
        if entry.result_schema is not None:
            result["content"] = {
                "application/json": {"schema": _add_schema(schemas, f"{entry.definition.name}_result", entry.result_schema)}
            }
        paths[f"/tools/{quote(entry.definition.name, safe='')}"] = {"post": _operation(entry, arguments, result)}
    tags = dict.fromkeys(tag for entry in tools for tag in entry.definition.tags)
    document: dict[str, Any] = {"openapi": "3.1.0", "info": {"title": title, "version": version}}
    if tags:
        document["tags"] = [{"name": tag} for tag in tags]
    return {**document, "paths": paths, "components": {"schemas": schemas}}


def _approval(tool: Tool | None) -> str:
    """When a call of the tool needs approval: a key of `_APPROVALS`, "" for never."""
    option = tool.options.requires_approval if tool is not None else False
    return "" if option is False else "always" if option is True else "sometimes"


def _operation(entry: _Entry, arguments: JsonSchema, result: dict[str, Any]) -> dict[str, Any]:
    definition = entry.definition
    content: dict[str, Any] = {"schema": arguments}
    if definition.examples:
        examples = enumerate(definition.example_arguments, 1)
        content["examples"] = {f"example_{number}": {"value": example} for number, example in examples}
    body = {"required": bool(definition.parameters.get("required")), "content": {"application/json": content}}
    operation: dict[str, Any] = {"operationId": definition.name, "requestBody": body, "responses": {"200": result}}
    if definition.description:
        first, _, rest = definition.description.partition("\n")
        operation |= {"summary": first} | ({"description": definition.description} if rest.strip() else {})
    if definition.tags:
        operation["tags"] = list(definition.tags)
    operation["x-read-only"] = definition.read_only
    if entry.approval:
        operation["x-requires-approval"] = entry.approval
    return operation if definition.version is None else {**operation, "x-version": definition.version}


def _add_schema(schemas: dict[str, Any], name: str, schema: JsonSchema) -> dict[str, str]:
    """Add a schema to the document under a valid, unused name, and return a reference to it. Its own `#/...` are adapted."""
    key = plain = re.sub(r"[^a-zA-Z0-9._-]", "_", name)
    number = 1
    while key in schemas:
        number += 1
        key = f"{plain}_{number}"
    place = f"#/components/schemas/{key}"
    schemas[key] = _with_references_below(schema, place)
    return {"$ref": place}


def _with_references_below(schema: Any, place: str) -> Any:
    if is_list(schema):
        return [_with_references_below(each, place) for each in schema]
    if not is_object(schema):
        return schema
    moved: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "$ref" and isinstance(value, str) and (value == "#" or value.startswith("#/")):
            moved[key] = place + value[1:]
        elif key in _VALUE_KEYWORDS:
            moved[key] = value
        elif key in _SCHEMA_MAPS and is_object(value):
            moved[key] = {name: _with_references_below(each, place) for name, each in value.items()}
        else:
            moved[key] = _with_references_below(value, place)
    return moved


# Markdown


def _as_markdown(tools: list[_Entry], title: str, version: str) -> str:
    definitions = [entry.definition for entry in tools]
    approvals = [entry.approval for entry in tools]
    parts = [f"# {_text(title)}", _table(["tool", "what it does"], [_index_row(each) for each in definitions])]
    for definition, approval in zip(definitions, approvals, strict=True):
        parts += _section(definition, approval)
    return "\n\n".join(part for part in parts if part) + "\n"


def _index_row(definition: ToolDefinition) -> list[str]:
    return [_cell(definition.name), _text(definition.description.strip().partition("\n")[0])]


def _section(definition: ToolDefinition, approval: str) -> Iterator[str]:
    yield f"## {_code(definition.name)}"
    yield "\n".join(_text(line, at_start=True) for line in definition.description.strip().splitlines())
    facts = ["Changes nothing." if definition.read_only else ""]
    facts += [_APPROVALS[approval]] if approval else []
    facts += [f"Version {_text(definition.version)}." if definition.version else ""]
    facts += [f"Tags: {', '.join(map(_code, definition.tags))}." if definition.tags else ""]
    yield " ".join(filter(None, facts))
    schema = definition.parameters
    properties: Mapping[str, Any] = schema.get("properties") or {}
    required: Sequence[str] = schema.get("required") or ()
    rows = [_parameter_row(name, part, name in required) for name, part in properties.items()]
    yield _table(["parameter", "type", "required", "description"], rows) if rows else "It takes no parameters."
    if _is_nested(schema):
        yield f"Schema:\n\n{_fenced(schema)}"
    for example in definition.example_arguments:
        yield f"Example:\n\n{_fenced(example)}"


def _parameter_row(name: str, schema: Any, is_required: bool) -> list[str]:
    part: Mapping[str, Any] = schema if is_object(schema) else {}
    sentences = [_text(str(part["description"])).rstrip(".") + "."] if part.get("description") else []
    sentences += [f"{words.format(_cell(_json(part[key])))}." for key, words in _BOUNDS.items() if key in part]
    sentences += [f"Default: {_cell(_json(part['default']))}."] if "default" in part else []
    return [_cell(name), _type_words(part), "yes" if is_required else "", " ".join(sentences)]


def _type_words(schema: Any) -> str:
    """A schema's type for readers: `string`, `list of string`, its values or its alternatives."""
    part: Mapping[str, Any] = schema if is_object(schema) else {}
    if is_list(values := part.get("enum")):
        return " or ".join(_cell(_json(value)) for value in values)
    if "const" in part:
        return _cell(_json(part["const"]))
    for key in ("anyOf", "oneOf"):
        if is_list(several := part.get(key)):
            return " or ".join(dict.fromkeys(map(_type_words, several)))
    if isinstance(part.get("$ref"), str):
        return _text(str(part["$ref"]).rpartition("/")[2] or "the same")
    kind: Any = part.get("type")
    if kind == "array":
        return f"list of {_type_words(part['items'])}" if is_object(part.get("items")) else "list"
    return " or ".join(map(str, kind)) if is_list(kind) else _text(str(kind or "any"))


def _is_nested(schema: Any) -> bool:
    """Whether a table of parameters does not show the whole schema."""
    return any(f'"{key}":' in json.dumps(json_data(schema.get("properties"))) for key in ("$ref", "properties", "allOf"))


def _table(head: list[str], rows: list[list[str]]) -> str:
    if not rows:
        return ""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(text: str, *, at_start: bool = False) -> str:
    """The text with Markdown escaped. `at_start` of a line: lists stay lists, but underlines and rules are escaped."""
    escaped = _MARKUP.sub(r"\\\1", text.rstrip())
    return re.sub(r"^(\s*)([=+-])(?=\2|\s*$)", r"\1\\\2", escaped) if at_start else " ".join(escaped.split())


def _code(text: str) -> str:
    """The text as a code span, whatever backquotes it contains."""
    text = " ".join(text.split())
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def _cell(text: str) -> str:
    """The text as a code span in a table, where an unescaped bar ends even a code span."""
    return _code(text).replace("|", "\\|")


def _fenced(data: Any) -> str:
    text = _json_text(data)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}json\n{text}{fence}"


def _json(value: Any) -> str:
    return json.dumps(json_data(value), ensure_ascii=False)


_WRITERS: dict[str, Callable[[list[_Entry], str, str], str]] = {
    "markdown": _as_markdown,
    "openapi": _as_openapi,
    "json": _as_json,
}
