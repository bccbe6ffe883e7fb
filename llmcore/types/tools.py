"""Tool definitions and compiled tool sets.

A `ToolDefinition` is what a model sees of a tool. A `ToolSet` has several of them and precomputes what the hot paths need: the
names, and for each property the JSON types that it admits. Nothing here runs a tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, singledispatch
from typing import Any, cast

from pydantic import ConfigDict, Field, ValidationError, field_validator

from llmcore.support.code.suggestions import mistake_in, nearest
from llmcore.support.values.copies import Value
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.errors import ToolDefinitionError
from llmcore.types.input.argument_errors import in_words
from llmcore.types.messages import CacheControl
from llmcore.types.schemas.schema_shape import JsonSchema, check_schema_shape, is_small_json_tree
from llmcore.types.schemas.type_names import TYPES, standard_schema, standard_type

__all__ = [
    "CompiledTool",
    "JsonSchema",
    "LiveTools",
    "ToolDefinition",
    "ToolSet",
    "check_definition",
    "definition_of",
    "live_tools_in",
    "tools_given",
    "tools_in",
]


_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")
_READ_KEYS = (
    *_SCHEMA_KEYS, "name", "description", "strict", "annotations", "read_only", "examples", "input_examples", "tags", "version",
    "cache_control",
)  # fmt: skip
_KEYS = frozenset({*_READ_KEYS, "type", "title", "function", "custom", "toolSpec", "outputSchema", "output_schema", "response"})
_MEAN_PARAMETERS = frozenset({"params", "schema", "args", "arguments", "properties", "input"})
_NEAR = 0.8
_EXAMPLE_KEYS = frozenset({"input", "output", "description"})
_WEB_SEARCHES = ("web_search", "google_search", "googlesearch", "websearch", "browser_search")
_MAX_SCHEMA_STEPS = 64
_MAX_SHOWN = 20


class ToolDefinition(Value):
    """A tool as a model sees it, and the facts that llmcore needs to run it safely.

    `parameters`: a JSON Schema of type object. Type names of other languages (`float`, `dict`, `STRING`) become standard ones.
    `read_only`: running the tool changes nothing, so a call that needed a `guess` may run.
    `examples`: argument objects, or `{"input": arguments, "output": ..., "description": ...}`. They must fit the schema, which is
    checked when the tool is given to an orchestrator, run or registry.
    """

    model_config = ConfigDict(frozen=True)
    raises = ToolDefinitionError

    name: str = Field(min_length=1)
    description: str = ""
    parameters: JsonSchema = Field(default_factory=lambda: {"type": "object", "properties": {}})
    read_only: bool = False
    strict: bool | None = None
    """Whether to ask the provider to enforce the schema; None asks if the strict form of the schema loses nothing."""
    examples: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    tags: list[str] = Field(default_factory=list[str])
    version: str | None = None
    cache_control: CacheControl | None = None
    """Marks the end of a prefix for the provider's prompt cache: the tools up to this one."""

    @field_validator("parameters")
    @classmethod
    def _standard_types(cls, parameters: JsonSchema) -> JsonSchema:
        return cast("JsonSchema", standard_schema(parameters))

    @property
    def definition(self) -> ToolDefinition:
        return self

    @property
    def example_arguments(self) -> list[dict[str, Any]]:
        """The arguments of each example: the example itself, or its `input`."""
        if not self.examples:
            return []
        parameters = CompiledTool(self).properties.keys()
        return [example["input"] if _is_input_example(example, parameters) else example for example in self.examples]


def _is_input_example(example: Mapping[str, Any], parameters: Set[str]) -> bool:
    """Whether it has the form with `input`, and is no argument object of a tool that has a parameter `input`."""
    return is_object(example.get("input")) and example.keys() <= _EXAMPLE_KEYS and not example.keys() <= parameters


def check_definition(definition: ToolDefinition) -> None:
    """Raises `ToolDefinitionError` for a definition that cannot be sent as JSON: see `check_schema_shape`."""
    where = f"tool {definition.name!r}: "
    check_schema_shape(definition.parameters, f"{where}parameters: ")
    check_schema_shape([definition.description, definition.examples], where, around=2)


def _check_definitions(definitions: Sequence[ToolDefinition]) -> None:
    """`check_definition` of several. For most sets the one quick check is enough."""
    if not is_small_json_tree([[each.parameters, each.description, each.examples] for each in definitions]):
        for definition in definitions:
            check_definition(definition)


def _first(mapping: Mapping[str, Any], *keys: str) -> Any:
    return next((mapping[key] for key in keys if mapping.get(key) is not None), None)


def _refuse_several(given: Mapping[str, Any]) -> None:
    """Raises `ToolDefinitionError` for an object of Gemini's `tools`, which has several tools."""
    for key in ("functionDeclarations", "function_declarations"):
        if key in given:
            raise ToolDefinitionError(f"{key} holds several tools: give each by itself, as in tools=[*entry[{key!r}]]")


def _from_mapping(given: Mapping[str, Any]) -> ToolDefinition:
    """The definition of a tool dict of OpenAI (both APIs), Anthropic, Gemini, Bedrock or MCP."""
    body: Mapping[str, Any] = given
    for key in ("function", "custom", "toolSpec"):
        if isinstance(inner := given.get(key), Mapping):
            body = cast("Mapping[str, Any]", inner)
            break
    _refuse_several(given)
    schema: object = _first(body, *_SCHEMA_KEYS)
    if schema is None:
        _refuse_hosted(given, body)
    name = body.get("name")
    if not isinstance(name, str):
        known = "OpenAI, Anthropic, Gemini, Bedrock or MCP"
        raise ToolDefinitionError(f"a tool without a name: expected a tool dict of {known}, got keys {_keys(given)}")
    _refuse_misspelt(name, body)
    if is_object(schema) and is_object(schema.get("json")):
        schema = schema["json"]
    if schema is None:
        schema = {"type": "object", "properties": {}}
    if not isinstance(schema, Mapping):
        raise ToolDefinitionError(f"tool {name!r}: its parameters must be a JSON Schema object, got {type(schema).__name__}")
    annotations = body.get("annotations")
    read_only = isinstance(annotations, Mapping) and cast("Mapping[str, Any]", annotations).get("readOnlyHint") is True
    version = body.get("version")
    try:
        return ToolDefinition.model_validate(
            {
                "name": name,
                "description": body.get("description") or "",
                "parameters": dict(cast("Mapping[str, Any]", schema)),
                "strict": body.get("strict"),
                "read_only": read_only or body.get("read_only") is True,
                "examples": _first(body, "examples", "input_examples") or [],
                "tags": body.get("tags") or [],
                "version": version if isinstance(version, str) else None,
                "cache_control": given.get("cache_control") or body.get("cache_control"),
            }
        )
    except ValidationError as error:
        raise ToolDefinitionError(mistake_in(error, f"tool {name!r}")) from None


def _refuse_hosted(given: Mapping[str, Any], body: Mapping[str, Any]) -> None:
    """Raises `ToolDefinitionError` for a provider's built-in tool (`{"type": "web_search"}`, `{"googleSearch": {}}`).

    It has no schema, so it would become a function without parameters that nothing runs.
    """
    kind, only = given.get("type"), next(iter(given)) if len(given) == 1 else None
    if kind == "custom" or only == "custom":
        fix = "write a function with one parameter of type string for it"
        raise ToolDefinitionError(f"tool {body.get('name')!r} takes free text, which other models cannot give: {fix}")
    if isinstance(kind, str) and kind not in ("function", *TYPES):
        named = kind
    elif isinstance(only, str) and only not in _KEYS and is_object(given[only]) and "name" not in given[only]:
        named = only
    else:
        return
    way = "ask for it by `extra_body={'tools': [...]}` of a run, which goes out as it is, in place of all tools"
    if any(word in named.lower() for word in _WEB_SEARCHES):
        way = "give `allow_web_search=True` to the run, which is the provider's own search or the function `web_search`"
    raise ToolDefinitionError(f"the tool {named!r} is built into some providers and is no function: leave it out, and {way}")


def _keys(given: Mapping[str, Any]) -> list[str]:
    return sorted(map(str, given))[:_MAX_SHOWN]


def _refuse_misspelt(name: str, body: Mapping[str, Any]) -> None:
    """Raises `ToolDefinitionError` for a misspelt key, which would be ignored silently. Unknown keys of providers pass."""
    for key in body:
        if key in _KEYS:
            continue
        meant = nearest(key, _READ_KEYS, _NEAR)
        if key in _MEAN_PARAMETERS and not any(known in body for known in _SCHEMA_KEYS):
            meant = "parameters"
        if meant is not None and meant not in body:
            raise ToolDefinitionError(f"tool {name!r} has no key {key!r}; did you mean {meant!r}?")


@singledispatch
def definition_of(tool: object) -> ToolDefinition:
    """The definition of a `ToolDefinition`, a `Tool` (an object with `.definition`), or a provider's tool dict.

    `llmcore.tools` registers plain functions too.

    Raises `ToolDefinitionError` for anything else.
    """
    found = getattr(tool, "definition", None)
    if isinstance(found, ToolDefinition):
        return found
    if isinstance(tool, Mapping):
        return _from_mapping(cast("Mapping[str, Any]", tool))
    raise ToolDefinitionError(f"not a tool: {type(tool).__name__}; give a function, a Tool or an OpenAI/Anthropic tool dict")


@definition_of.register
def _own_definition(tool: ToolDefinition) -> ToolDefinition:
    return tool.definition


@definition_of.register(dict)
def _definition_of_dict(tool: dict[str, Any]) -> ToolDefinition:
    return _from_mapping(tool) if tool.__class__ is dict else definition_of.dispatch(object)(tool)


def tools_in(tools: object) -> Iterable[object]:
    """The tools of a `ToolSet`, a `LiveTools` or any iterable, as they were given, functions included.

    Raises `ToolDefinitionError` for anything else.
    """
    if isinstance(tools, ToolSet):
        return tools.given
    if isinstance(tools, LiveTools):
        return tools.tools_now()
    return _flat(_collection(tools))


def _in_a_list(given: object) -> str:
    """How to write the given tool, or dict of tools, as a list; for an error message."""
    if is_object(given):
        is_one = bool({"name", "function", "type"} & given.keys())
        return ": [tool]" if is_one else ": [*tools.values()]"
    is_one = callable(given) or isinstance(given, ToolDefinition)
    name = getattr(given, "name", None) or getattr(given, "__name__", "tool")
    return f": [{name}]" if is_one else ""


def _collection(tools: object) -> Iterable[object]:
    name = type(tools).__name__
    if isinstance(tools, str | bytes | Mapping | ToolDefinition) or not isinstance(tools, Iterable):
        raise ToolDefinitionError(f"give a list of tools, not {name}{_in_a_list(cast('Any', tools))}")
    return cast("Iterable[object]", tools)


def tools_given(tools: object) -> Iterable[object]:
    """As `tools_in`, but a `LiveTools` stays one element. Raises `ToolDefinitionError`."""
    if isinstance(tools, LiveTools):
        return (tools,)
    return tools_in(tools) if isinstance(tools, ToolSet) else _collection(tools)


def _flat(tools: Iterable[object]) -> Iterator[object]:
    """The tools, with nested collections expanded."""
    for tool in tools:
        if isinstance(tool, LiveTools | ToolSet):
            yield from tools_in(tool)
        else:
            yield tool


class LiveTools:
    """The base class of collections whose tools may change. A run reads the tools again at each turn."""

    @property
    def version(self) -> int:
        """A number that differs after each change."""
        raise NotImplementedError

    def tools_now(self) -> Sequence[object]:
        """The current tools."""
        raise NotImplementedError


def live_tools_in(tools: object) -> tuple[LiveTools, ...]:
    """The `LiveTools` among the given tools: the collection itself, or members of it. It must be iterable more than once."""
    members: Iterable[object] = tools.given if isinstance(tools, ToolSet) else cast("Iterable[object]", tools)
    return (tools,) if isinstance(tools, LiveTools) else tuple(each for each in members if isinstance(each, LiveTools))


class CompiledTool:
    """A definition with precomputed properties, for reading values from untyped text."""

    __slots__ = ("__dict__", "_branches_of", "_types_of", "definition", "name")

    def __init__(self, definition: ToolDefinition) -> None:
        self.definition = definition
        self.name = definition.name
        self._types_of: dict[int, tuple[Any, tuple[str, ...]]] = {}
        """By `id()` of a schema. The entry references the schema, so that its id is not reused."""
        self._branches_of: dict[int, tuple[Any, list[dict[str, Any]]]] = {}

    @cached_property
    def properties(self) -> dict[str, Any]:
        """The schemas of the properties, including those of `allOf`, `anyOf` and `$ref` at the root."""
        found: dict[str, Any] = {}
        for part in self.branches(self.definition.parameters):
            inner = part.get("properties")
            if is_object(inner):
                for key, schema in inner.items():
                    found.setdefault(key, schema)
        return found

    @cached_property
    def required(self) -> frozenset[str]:
        parameters = self.resolve(self.definition.parameters)
        names: object = parameters.get("required") if is_object(parameters) else None
        return frozenset(name for name in names if isinstance(name, str)) if is_list(names) else frozenset()

    @cached_property
    def is_open(self) -> bool:
        """Whether the schema admits properties that it does not name."""
        parameters = self.resolve(self.definition.parameters)
        return not is_object(parameters) or parameters.get("additionalProperties") is not False

    @cached_property
    def types_by_property(self) -> dict[str, tuple[str, ...]]:
        """The JSON types that each property admits, in the order in which a text is read; `()` if the schema states none."""
        return {key: self.types_of(schema) for key, schema in self.properties.items()}

    def types(self, key: str) -> tuple[str, ...]:
        """The JSON types for a key, which need not be a property."""
        types = self.types_by_property.get(key)
        return self._additional_types if types is None else types

    @cached_property
    def _additional_types(self) -> tuple[str, ...]:
        parameters = self.resolve(self.definition.parameters)
        extra: object = parameters.get("additionalProperties") if is_object(parameters) else None
        return self.types_of(extra) if is_object(extra) else ()

    def types_of(self, schema: Any) -> tuple[str, ...]:
        """As `types`, of any schema inside this tool's parameters (one object each time: what it admits is kept)."""
        known = self._types_of.get(id(schema))
        if known is None:
            admitted = set[str]().union(*map(_declared_types, self.branches(schema)))
            known = schema, tuple(kind for kind in TYPES if kind in admitted)
            self._types_of[id(schema)] = known
        return known[1]

    def resolve(self, schema: Any) -> Any:
        """Follow local `$ref`s; a schema that cannot be followed is returned as it is."""
        for _ in range(_MAX_SCHEMA_STEPS):
            reference: object = schema.get("$ref") if is_object(schema) else None
            if not isinstance(reference, str) or not reference.startswith("#"):
                return schema
            target: Any = self.definition.parameters
            for step in reference[1:].split("/")[1:]:
                step = step.replace("~1", "/").replace("~0", "~")
                if not is_object(target) or step not in target:
                    return schema
                target = target[step]
            schema = target
        return schema

    def branches(self, schema: Any) -> list[dict[str, Any]]:
        """The schema and the branches of its anyOf, oneOf and allOf, with references resolved. Callers must not change the list.

        At most 64.
        """
        known = self._branches_of.get(id(schema))
        if known is None:
            known = self._branches_of[id(schema)] = schema, self._found_branches(schema)
        return known[1]

    def _found_branches(self, schema: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        waiting: list[Any] = [schema]
        while waiting and len(found) < _MAX_SCHEMA_STEPS:
            part = self.resolve(waiting.pop(0))
            if is_object(part):
                found.append(part)
                for key in ("anyOf", "oneOf", "allOf"):
                    branches: object = part.get(key)
                    if is_list(branches):
                        waiting.extend(branches)
        return found


def _declared_types(schema: Mapping[str, Any]) -> set[str]:
    declared = standard_type(schema.get("type"))  # `model_copy(update=...)` does not standardise
    names = declared if is_list(declared) else [declared]
    found = {name for name in names if isinstance(name, str)}
    if not found:
        for key in ("enum", "const"):
            if key in schema:
                given = schema[key]
                values = given if key == "enum" and is_list(given) else [given]
                found |= {_type_of(value) for value in values}
        if "properties" in schema:
            found.add("object")
        if "items" in schema or "prefixItems" in schema:
            found.add("array")
    if schema.get("nullable") is True:
        found.add("null")
    return found


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    for kinds, name in (((bool,), "boolean"), ((int,), "integer"), ((float,), "number"), ((str,), "string"), ((list,), "array")):
        if isinstance(value, kinds):
            return name
    return "object"


@in_words(only=("__init__",))
class ToolSet:
    """Compiled tools. Iteration yields the definitions. `name in tools` and `tools.get(name)` compare names exactly.

    `tools` may contain `ToolDefinition`s, `Tool`s, functions (through `llmcore.ToolSet`) and provider tool dicts. An orchestrator
    or a run that receives a `ToolSet` runs the functions in it. The same tool given twice is one.

    Raises `ToolDefinitionError` for what is no tool, for parameters that are circular or nested too deeply, and for two different
    tools of one name.
    """

    __slots__ = ("__weakref__", "_by_name", "definitions", "given", "names")

    def __init__(self, tools: Iterable[object] = ()) -> None:
        self.given: tuple[object, ...] = tuple(tools_in(tools))
        """The tools as they were given, with their functions."""
        self._by_name: dict[str, CompiledTool] = {}
        definitions = [definition_of(tool) for tool in self.given]
        _check_definitions(definitions)
        for definition in definitions:
            earlier = self._by_name.get(definition.name)
            if earlier is not None and earlier.definition != definition:
                raise ToolDefinitionError(f"two different tools are called {definition.name!r}; rename one")
            self._by_name[definition.name] = CompiledTool(definition)
        self.names: frozenset[str] = frozenset(self._by_name)
        self.definitions: tuple[ToolDefinition, ...] = tuple(tool.definition for tool in self._by_name.values())

    def get(self, name: str) -> CompiledTool | None:
        return self._by_name.get(name)

    @property
    def compiled(self) -> list[CompiledTool]:
        return list(self._by_name.values())

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[ToolDefinition]:
        return iter(self.definitions)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"ToolSet({sorted(self.names)})"
