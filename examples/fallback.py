"""What happens when things fail: a server that refuses tools, a model that is wrong twice. Every request has a reason.

The models are scripted; with real ones only the registry differs (`models.yaml`, see docs/cli.md).
"""

from __future__ import annotations

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
    orchestrator = llmcore.Orchestrator(REGISTRY, tools=[get_weather], adapter={"small": small, "large": large})
    result = orchestrator.run_sync("How is Oslo for the next three days?")
    print(f"{title}: {result.content}")
    for attempt in result.attempts:
        print(f"  {attempt.n}. {attempt.model}, {attempt.mode}: {attempt.reason}{': ' * bool(attempt.detail)}{attempt.detail}")


def main() -> None:
    wrong = ("get_weather", {"city": "Oslo", "days": "a few"})
    right = ("get_weather", {"city": "Oslo", "days": 3})
    run(
        "a server that refuses tools",
        llmcore.FakeModel()
        .error(llmcore.CapabilityRefused("gemma2:9b does not support tools", capability="native_tools"))
        .text('<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}\n</tool_call>')
        .text("Sunny all along."),
        llmcore.FakeModel(),
    )
    run(
        "a model that does not get it right",
        llmcore.FakeModel().tool_calls(wrong).tool_calls(wrong).text("I cannot say."),
        llmcore.FakeModel().tool_calls(right).text("Sunny all along."),
    )


if __name__ == "__main__":
    main()
