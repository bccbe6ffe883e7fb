"""`ItemWriter`: the items of a streamed response of OpenAI's Responses API, as events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from llmcore.wire.ids import random_id
from llmcore.wire.rewriting import joined_texts

__all__ = ["ItemWriter", "message", "reasoning_item", "text_part"]

Json = dict[str, Any]


def text_part(text: str) -> Json:
    """A part of a message with this text."""
    return {"type": "output_text", "text": text, "annotations": list[Any](), "logprobs": list[Any]()}


def message(content: list[Json], status: str = "completed") -> Json:
    """A `message` item with these parts."""
    return {"type": "message", "id": random_id("msg_"), "status": status, "role": "assistant", "content": content}


def reasoning_item(text: str) -> Json:
    return {"type": "reasoning", "id": random_id("rs_"), "summary": list[Any](), "content": [_reasoning_part(text)]}


def _reasoning_part(text: str) -> Json:
    return {"type": "reasoning_text", "text": text}


class ItemWriter:
    """Writes the items of a streamed response, one after the other, as events without `sequence_number`.

    `output`: the items that are done, in order. `index`: the next item's `output_index`.
    """

    def __init__(self) -> None:
        self.output: list[Json] = []
        self.index = 0
        self._item: Json = {}
        self._content: list[Json] = []
        """The parts of the open item that are done."""
        self._part: Json = {}
        """The part of the open item that is written; {} if none is."""
        self._texts: list[str] = []
        self._end: Json = {}
        """What the server's item has at its end."""
        self._ids = set[Any]()
        """The ids of the items that began. The second part of a server's item needs a new one."""

    @property
    def open_type(self) -> str:
        """The type of the open item, `message` or `reasoning`; "" if none is open. Its index is `index - 1`."""
        return str(self._item.get("type") or "")

    @property
    def place(self) -> Json:
        """The fields with which events refer to the part of the open item that is written, or is next."""
        return {"item_id": self._item.get("id"), "output_index": self.index - 1, "content_index": len(self._content)}

    def write(
        self, events: Iterable[Any], item: Mapping[str, Any] | None = None, part: Mapping[str, Any] | None = None
    ) -> list[Json]:
        """The events of text events. `item` and `part`: the message and its text that begin if none is open."""
        written: list[Json] = []
        for is_text, text in joined_texts(events):
            if self.open_type != ("message" if is_text else "reasoning"):
                written += self.begin(item) if is_text else self.begin(reasoning_item(""))
            if not self._part:
                written += self._begin_part(part if is_text else None)
            self._texts.append(text)
            logprobs = {"logprobs": list[Any]()} if is_text else {}
            kind = "response.output_text.delta" if is_text else "response.reasoning_text.delta"
            written.append({"type": kind, **self.place, "delta": text, **logprobs})
        return written

    def passes(self, event: Mapping[str, Any]) -> bool:
        """Whether the event is a delta of the open message, at its place."""
        return self.open_type == "message" and bool(self._part) and all(event.get(k) == v for k, v in self.place.items())

    def note_text(self, text: str) -> None:
        """Note a delta that passed."""
        self._texts.append(text)

    def begin(self, item: Mapping[str, Any] | None = None) -> list[Json]:
        """Close the open item, and begin this one: a message, or a reasoning item."""
        closed = self.close()
        self._item = {**(item or message([], "in_progress")), "content": list[Any]()}
        if self._item.get("id") in self._ids:
            self._item["id"] = random_id("msg_")
        self._ids.add(self._item.get("id"))
        self.index += 1
        return [*closed, self._added(self._item)]

    def _begin_part(self, part: Mapping[str, Any] | None) -> list[Json]:
        self._part = {**(part or (text_part("") if self.open_type == "message" else _reasoning_part(""))), "text": ""}
        return [{"type": "response.content_part.added", **self.place, "part": self._part}]

    def note_part(self, part: Mapping[str, Any]) -> None:
        """Keep what the server's part has beside its text, such as annotations, for the end of the open part."""
        if self._part:
            self._part |= {key: value for key, value in part.items() if key != "text" and value}

    def note_end(self, item: Mapping[str, Any]) -> None:
        """Keep what the server's item has at its end, such as its status, for the end of the open item."""
        self._end = {key: value for key, value in item.items() if key not in ("id", "content")}

    def pass_part(self, event: Json, item: Mapping[str, Any] | None) -> list[Json]:
        """An event of a part that is no text, such as a refusal. `item`: the message that begins if none is open."""
        written = [] if self.open_type == "message" else self.begin(item)
        written += self._close_part()
        written.append({**event, **self.place})
        if event.get("type") == "response.content_part.done":
            self._content.append(event["part"])
        return written

    def close(self) -> list[Json]:
        """Close the open item."""
        if not self._item:
            return []
        closed = self._close_part()
        status = {"status": "completed"} if self.open_type == "message" else {}
        done = {**self._item, **status, **self._end, "content": self._content}
        self._item, self._content, self._end = {}, [], {}
        return [*closed, self.done(done)]

    def _close_part(self) -> list[Json]:
        if not self._part:
            return []
        text = "".join(self._texts)
        part, is_text = {**self._part, "text": text}, self.open_type == "message"
        logprobs = {"logprobs": list[Any]()} if is_text else {}
        kind = "response.output_text.done" if is_text else "response.reasoning_text.done"
        events = [
            {"type": kind, **self.place, "text": text, **logprobs},
            {"type": "response.content_part.done", **self.place, "part": part},
        ]
        self._content.append(part)
        self._part, self._texts = {}, []
        return events

    def _added(self, item: Mapping[str, Any]) -> Json:
        return {"type": "response.output_item.added", "output_index": self.index - 1, "item": dict(item)}

    def done(self, item: Json) -> Json:
        """The event that ends the item with the last index."""
        self.output.append(item)
        return {"type": "response.output_item.done", "output_index": self.index - 1, "item": item}

    def call(self, item: Json) -> list[Json]:
        """The events of a call, whole."""
        self.index += 1
        field, kind = ("input", "custom_tool_call_input") if "input" in item else ("arguments", "function_call_arguments")
        place = {"item_id": item["id"], "output_index": self.index - 1}
        name = {"name": item["name"]} if field == "arguments" else {}
        return [
            self._added({**item, field: "", "status": "in_progress"}),
            {"type": f"response.{kind}.delta", **place, "delta": item[field]},
            {"type": f"response.{kind}.done", **place, field: item[field], **name},
            self.done(item),
        ]
