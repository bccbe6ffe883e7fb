"""A recorded run lived through again, without any model: how to test prompts, tools and settings on real traffic.

Record one with `llmcore record`; this one is shipped (fixtures/recorded).
"""

from __future__ import annotations

from pathlib import Path

import llmcore

RECORDED = Path(__file__).resolve().parent.parent / "fixtures" / "recorded" / "openai.jsonl"


def get_weather(city: str, days: int = 1, unit: str = "celsius") -> str:
    """The weather in a city."""
    return f"{city}, {days} days: sunny, 24 {unit}"


def main() -> None:
    # The tool here is not the one that was recorded; without match="none" that is an error.
    replay = llmcore.ReplayAdapter(RECORDED, run="openai-reask", match="none")
    result = llmcore.Orchestrator(replay, tools=[get_weather]).run_sync("How is Oslo for the next three days?")
    print(result.content)
    for attempt in result.attempts:
        print(f"{attempt.n}. {attempt.reason}; {attempt.detail or '-'}")
    assert replay.finished, "the run made fewer requests than were recorded"


if __name__ == "__main__":
    main()
