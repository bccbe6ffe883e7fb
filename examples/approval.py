"""A payment waits to be approved; what waits is saved, and another process could go on."""

import llmcore


@llmcore.tool(requires_approval=True, summary="Pay {amount} EUR to {to}")
def pay(to: str, amount: int) -> str:
    """Pay somebody."""
    return f"{amount} EUR went to {to}"


@llmcore.tool
def balance() -> str:
    """The money that is left."""
    return "100 EUR"


model = llmcore.FakeModel().tool_calls(("balance", {}), ("pay", {"to": "Ann", "amount": 5})).text("Ann has her 5 EUR.")
orchestrator = llmcore.Orchestrator(model, [pay, balance])
waiting = orchestrator.run_sync("Pay Ann 5 EUR, if there is enough.")
print("ran:", [call.name for call in waiting.tool_results])
for request in waiting.approvals:
    print(f"may it? {request.summary}")

saved = waiting.model_dump_json()  # to a file or a database, for as long as it takes

result = llmcore.RunResult.model_validate_json(saved)
done = orchestrator.run_sync(result, answers={request.id: llmcore.Approve() for request in result.approvals})
print("ran:", [(call.name, call.answer, call.content) for call in done.tool_results])
print(done.content)
