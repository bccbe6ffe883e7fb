"""A typed final answer: `execute` gives an instance of your type, or raises with what was wrong.

The first reply is chatty and counts in words; the model is told exactly that, once, and answers again. A number that
merely came as a string is converted, and that is recorded.
"""

from __future__ import annotations

from pydantic import BaseModel, Field

import llmcore


class City(BaseModel):
    name: str
    people: int = Field(description="inhabitants of the city proper")
    river: str | None = None


def main() -> None:
    model = llmcore.FakeModel(
        'Gladly! {"name": "Paris", "people": "about two million"}',
        'Here you are:\n```json\n{"name": "Paris", "people": "2048472", "river": "Seine"}\n```',
    )
    city = llmcore.Orchestrator(model).execute_sync("Tell me about Paris.", City)
    print(repr(city))
    print(f"asked {model.call_count} times; the second time because of:")
    print(next(line for line in model.last_request.messages[-1].text.splitlines() if line.startswith("- ")))

    # The same reading without any model: text in, value out, every repair beside it.
    detail = llmcore.parse_detailed("{'name': 'Paris', 'people': '2048472',}", City)
    print(repr(detail.value), [repair.kind for repair in detail.repairs])


if __name__ == "__main__":
    main()
