"""A run as it happens: text, the call while it is being written, its result, the end.

A call written as text gives the same events as a native one, however the stream was cut.
"""

from __future__ import annotations

import asyncio

import llmcore


@llmcore.tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"22 degrees and sunny in {city}"


async def main() -> None:
    call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
    model = llmcore.FakeModel("Let me look.\n" + call, "It is sunny.", chunk_size=6)
    orchestrator = llmcore.Orchestrator(model, tools=[get_weather])
    async for event in orchestrator.stream("How is the weather in Paris?"):
        match event:
            case llmcore.AttemptStarted(n=n, reason=reason):
                print(f"-- request {n} ({reason})")
            case llmcore.TextDelta(text=text):
                print("text", repr(text))
            case llmcore.ToolCallStarted(name=name):
                print("calling", name)
            case llmcore.ArgumentsDelta(json=json):
                print("arguments", repr(json))
            case llmcore.ToolResult(name=name, content=content):
                print("result of", name, "is", repr(content))
            case llmcore.Finished(result=result):
                print("-- done:", result.content)
            case _:
                pass


if __name__ == "__main__":
    asyncio.run(main())
