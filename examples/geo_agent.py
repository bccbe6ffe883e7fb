"""The GeoAgent of the framework's design document, with its modules in small: a table registry, a map, a store of notes.

The class is the document's, with two edits:

1. The document calls `_system_messages` before it records the user's message, and reads `self.messages[-1]` in it. Here the
   message is recorded first, so the method stays as it is. What it gives is the system prompt of that chat; it does not stay in
   the history.
2. `run_analysis` hands off to `super().run_analysis`, which nobody has: here it asks the agent that it was given, `analyst`.

The document's `from base import Agent, tool` is llmcore's. Parameters that are declared, not required and left out by the model
arrive as None, as `color` does below.
"""

# The document's class is typed here and there only:
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-any-generics, no-warn-return-any
# pyright: basic

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from llmcore import Agent, FakeModel, tool

# What the document imports from elsewhere


@dataclass
class Table:
    name: str


@dataclass
class TableRegistry:
    tables: list[Table]

    @classmethod
    def load_from_tileserv(cls, engine: list[str]) -> TableRegistry:
        return cls([Table(name) for name in engine])


def extract_filters(arguments: dict[str, Any]) -> dict[str, Any]:
    """Filters as the handlers take them: each with its operator."""
    return {**arguments, "filters": [{"op": "=", **one} for one in arguments.get("filters") or []]}


class MapHandler:
    def __init__(self) -> None:
        self.layers: list[str] = []

    def _add_map_layer(self, table: str, filters: list[dict[str, Any]], style: str | None, color: str | None) -> None:
        self.layers.append(table)
        print(f"map: {table} where {filters}, style {style}, color {color}")

    def remove_layer(self, layer_id: str) -> bool:
        known = layer_id in self.layers
        self.layers = [layer for layer in self.layers if layer != layer_id]
        return known


class DataHandler:
    def filter_count(self, engine: list[str], filters: list[dict[str, Any]]) -> int:
        return 42


class InfoStore:
    async def query(self, question: str, k: int) -> list[dict[str, str]]:
        print(f"store: {question}")
        return [{"markdown": "Parcels lie in the table `parcels`."}, {"markdown": "Zones: R1, C2."}]


# The document's class


class GeoAgent(Agent):
    def __init__(self, client, model, engine, map_handler, data_handler, info_store, socket_emit=None, analyst: Any = None):
        super().__init__(client, model, socket_emit)
        self.engine = engine
        self.map_handler = map_handler
        self.data_handler = data_handler
        self.info_store = info_store
        self.registry: Any = None
        self.analyst = analyst

    async def _system_messages(self):
        # load context and inject as system prompt
        self.registry = TableRegistry.load_from_tileserv(self.engine)
        context = await self.info_store.query(self.messages[-1]["content"], k=3)
        md = "\n\n".join(r["markdown"] for r in context)
        return [{"role": "system", "content": md}]

    def _finalize_response(self, text: str) -> str:
        return text.strip()

    @tool(
        name="add_map_layer",
        description="Add a layer to the map with optional CQL filters",
        params={
            "table": {"type": "string", "enum": lambda self: [t.name for t in self.registry.tables]},
            "layer_id": {"type": "string"},
            "style": {"type": "string"},
            "color": {"type": "string"},
            "filters": {"type": "array", "items": {"type": "object"}},
        },
        required=["table", "layer_id"],
        preprocess=extract_filters,
        postprocess=lambda count: f"{count} parcels found",
    )
    def add_map_layer(self, table: str, filters: list[dict], style: str, color: str, layer_id: str) -> int:
        self.map_handler._add_map_layer(table=table, filters=filters, style=style, color=color)
        return self.data_handler.filter_count(self.engine, filters)

    @tool(
        name="remove_map_layer",
        description="Remove a layer by its ID",
        params={"layer_id": {"type": "string"}},
        required=["layer_id"],
    )
    def remove_map_layer(self, layer_id: str) -> bool:
        return self.map_handler.remove_layer(layer_id)

    @tool(
        name="run_analysis",
        description="Perform spatial analysis on the current selection",
        params={"prompt": {"type": "string"}},
        required=["prompt"],
    )
    async def run_analysis(self, prompt: str) -> str:
        # Hand off to specialized analysis logic or agent
        return await self.analyst.chat(prompt, message_history=())


async def main() -> None:
    async def emit(event: dict[str, Any]) -> None:
        if event["type"] == "ai_response":
            print("socket:", event["message"])

    model = (
        FakeModel()
        .tool_call("add_map_layer", {"table": "parcels", "layer_id": "parcels", "style": "fill", "filters": [{"zone": "R1"}]})
        .tool_calls(("run_analysis", {"prompt": "How dense is R1?"}), ("remove_map_layer", {"layer_id": "roads"}))
        .text("  R1 is on the map: 42 parcels, dense.\n")
        .text("You are welcome.")
    )
    analyst = Agent(FakeModel("Dense."), system="You analyse maps.")
    geo = GeoAgent(model, "gpt-4o", ["parcels", "roads"], MapHandler(), DataHandler(), InfoStore(), emit, analyst)
    await geo.chat("Show me R1.")
    print("results:", [result.text for message in geo.messages for result in message.tool_results])
    offered = model.calls[0].tools[0].parameters["properties"]["table"]["enum"]
    print("offered:", offered)
    await geo.chat("Thanks!")
    print("system messages in the history:", sum(message.role == "system" for message in geo.messages))


asyncio.run(main())
