"""Reads facts about a reply from the server's body: its id, its model, and whether it counted tokens.

LiteLLM invents an id if it finds none, and counts tokens with another model's tokenizer.
"""

from __future__ import annotations

from typing import Any

from llmcore.support.values.narrowing import is_list, is_object, object_in, objects_in

__all__ = ["BodyFacts"]

_IDS = ("id", "responseId", "response_id")
_MODELS = ("model", "modelVersion")
_COUNTS = frozenset({"usage", "usageMetadata", "prompt_eval_count", "eval_count"})
_INSIDE = ("message", "response", "x_groq", "delta", "metadata")
"""Fields of a body or event that may hold these facts too."""


class BodyFacts:
    """Collects the facts from one body, or from the events of a stream as they arrive."""

    __slots__ = ("counted", "id", "model")

    def __init__(self) -> None:
        self.id = self.model = ""
        self.counted = False

    @classmethod
    def of(cls, bodies: object) -> BodyFacts:
        """The facts of a body or of a list of events."""
        facts = cls()
        for body in objects_in(bodies) if is_list(bodies) else [object_in(bodies)]:
            facts.add(body)
        return facts

    def add(self, event: object) -> None:
        if (self.id and self.model and self.counted) or not is_object(event):
            return
        for place in (event, *(inner for key in _INSIDE if is_object(inner := event.get(key)))):
            self.id = self.id or _text(place, _IDS)
            self.model = self.model or _text(place, _MODELS)
            self.counted = self.counted or any(is_object(place.get(key)) or place.get(key) for key in _COUNTS & place.keys())
        if not self.counted and "choices" in event:  # Moonshot
            self.counted = any(is_object(choice.get("usage")) for choice in objects_in(event["choices"]))


def _text(place: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((value for key in keys if isinstance(value := place.get(key), str) and value), "")
