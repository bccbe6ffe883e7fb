"""Schemas and values that several tests use."""

from __future__ import annotations

from typing import Any

from llmcore.types import JsonSchema, ToolCall, ToolDefinition, ToolSet

__all__ = ["WEATHER", "call", "nested", "object_schema", "weather_tools"]


def object_schema(**properties: JsonSchema) -> JsonSchema:
    """An object in which all properties are required."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def nested(levels: int, key: str = "properties") -> dict[str, Any]:
    """`{key: {key: ... {}}}`."""
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {key: value}
    return value


WEATHER: JsonSchema = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "minimum": 1},
        "unit": {"enum": ["Celsius", "Fahrenheit"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["city"],
    "additionalProperties": False,
}


def weather_tools(**options: Any) -> ToolSet:
    """`get_weather` and `search`, both with the weather's parameters."""
    return ToolSet([ToolDefinition(name=name, parameters=WEATHER, **options) for name in ("get_weather", "search")])


def call(name: str = "get_weather", arguments: dict[str, Any] | None = None, **fields: Any) -> ToolCall:
    return ToolCall(id=fields.pop("id", "call_0"), name=name, arguments=arguments, **fields)
