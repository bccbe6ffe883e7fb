"""Models that write their calls as text, each in its own way: the dialect is told from the text itself."""

from __future__ import annotations

import llmcore

REPLIES = {
    "Qwen": '<tool_call>\n{"name": "book", "arguments": {"seats": 2, "row": "C"}}\n</tool_call>',
    "Qwen coder": "<tool_call>\n<function=book>\n<parameter=seats>\n2\n</parameter>\n"
    "<parameter=row>\nC\n</parameter>\n</function>\n</tool_call>",
    "Claude": 'Of course.\n<function_calls>\n<invoke name="book">\n<parameter name="seats">2</parameter>\n'
    '<parameter name="row">C</parameter>\n</invoke>\n</function_calls>',
    "Llama": '<|python_tag|>{"name": "book", "parameters": {"seats": "2", "row": "C"}}',
    "Mistral": '[TOOL_CALLS]book[ARGS]{"seats": 2, "row": "C"}',
    "a fence, broken JSON": "```json\n{'name': 'book', 'arguments': {'seats': 2, 'row': 'C',}}\n```",
    "prose about a call": 'Write `<tool_call>{"name": "book", "arguments": {}}</tool_call>` to book.',
}


@llmcore.tool
def book(seats: int, row: str) -> str:
    """Book seats in a row."""
    return f"booked {seats} in row {row}"


def main() -> None:
    for who, reply in REPLIES.items():
        envelope = llmcore.normalize(reply, tools=[book])
        report = llmcore.validate(envelope, [book])
        for call in report.calls:
            repairs = ", ".join(f"{repair.kind} ({repair.safety})" for repair in call.repairs)
            print(f"{who}: {call.name} {call.arguments} by {call.dialect}{f'; repaired: {repairs}' if repairs else ''}")
        if not report.calls:
            print(f"{who}: no call; content {envelope.content!r}")


if __name__ == "__main__":
    main()
