"""What happens when things fail: a server that refuses tools, a model that is wrong again and again.

Every request has a recorded reason, and all of them draw on one budget. The models are scripted; with real ones leave
`adapter` out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import llmcore

REGISTRY = llmcore.ModelRegistry.from_dict(
    {
        "models": {
            "small": {
                "provider": "ollama",
                "model": "gemma2:9b",
                "preferred_modes": ["native_tools", "text"],
                "escalates_to": ["large"],
            },
            "large": {"provider": "openai", "model": "gpt-4o"},
        }
    }
)


@llmcore.tool
def get_weather(city: str, days: int = 1) -> str:
    """The weather in a city."""
    return f"sunny in {city} for {days} days"


def run(title: str, small: llmcore.FakeModel, large: llmcore.FakeModel) -> None:
    adapters = {"small": small, "large": large}
    orchestrator = llmcore.Orchestrator(REGISTRY, tools=[get_weather], adapter=adapters, budget=llmcore.Budget(reasks=1))
    result = orchestrator.run_sync("How is Oslo for the next three days?")
    print(f"{title}: {result.content}")
    for attempt in result.attempts:
        print(f"  {attempt.n}. {attempt.model}, {attempt.mode}, {attempt.reason}; {attempt.detail or '-'}")


def main() -> None:
    wrong, right = {"city": "Oslo", "days": "a few"}, {"city": "Oslo", "days": 3}
    refusal = llmcore.CapabilityRefused("gemma2:9b does not support tools", capability="native_tools")
    run(
        "A server that refuses tools",
        llmcore.FakeModel().error(refusal).text(written(right)).text("Sunny all along."),
        llmcore.FakeModel(),
    )
    run(
        "A model that does not get it right",
        llmcore.FakeModel().tool_call("get_weather", wrong).tool_call("get_weather", wrong).text(written(wrong)),
        llmcore.FakeModel().tool_call("get_weather", right).text("Sunny all along."),
    )


def written(arguments: Mapping[str, object]) -> str:
    """A call as text, as the prompt of text mode teaches it."""
    return f"<tool_call>\n{json.dumps({'name': 'get_weather', 'arguments': arguments})}\n</tool_call>"


if __name__ == "__main__":
    main()
