"""An agent whose calls wait for approval: the conversation continues with the decisions."""

from __future__ import annotations

import pytest

from llmcore import Agent, Approve, Deny, FakeModel, tool
from llmcore.run.resume.answers import CallAnswer


class Keeper(Agent):
    def __init__(self, model: FakeModel) -> None:
        super().__init__(model)
        self.dropped: list[str] = []

    @tool(requires_approval=True)
    def drop(self, table: str) -> str:
        """Drop a table."""
        self.dropped.append(table)
        return f"{table} is dropped"


@pytest.mark.parametrize(
    ("answer", "dropped", "said"),
    [
        (Approve(), ["orders"], "orders is dropped"),
        (Approve(arguments={"table": "old_orders"}), ["old_orders"], "old_orders is dropped"),
        (Deny("it is in use"), [], "it is in use"),
    ],
)
def test_a_chat_goes_on_with_what_was_decided(answer: CallAnswer, dropped: list[str], said: str) -> None:
    keeper = Keeper(FakeModel().tool_call("drop", {"table": "orders"}).text("So be it.").text("Yes?"))
    waiting = keeper.run_sync("Drop the orders.")
    assert [call.name for call in waiting.approvals] == ["drop"]
    assert keeper.dropped == []
    assert keeper.chat_sync(answers={call.id: answer for call in waiting.pending}) == "So be it."
    assert keeper.dropped == dropped
    assert [message.role for message in keeper.messages] == ["user", "assistant", "tool", "assistant"]
    assert said in str(keeper.messages[2].content)
    assert keeper.chat_sync("Anything else?") == "Yes?"
