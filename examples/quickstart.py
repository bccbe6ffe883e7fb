"""The README's ten lines. The model wrote its call as text; nobody told llmcore in which form."""

import asyncio

import llmcore


@llmcore.tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"22 degrees and sunny in {city}"


model = llmcore.FakeModel('<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>', "It is sunny.")
result = asyncio.run(llmcore.Orchestrator(model, tools=[get_weather]).run("How is the weather in Paris?"))
print(result.content)  # It is sunny.
