"""Messages of validators and tools may be of any length; errors and results cut them."""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel

from llmcore.adapters.secrets.known_secrets import remember
from llmcore.orchestrator import Orchestrator
from llmcore.support.code.quoted_words import MAX_MESSAGE, MAX_WORDS, clipped_words
from llmcore.testing import FakeModel
from llmcore.tools import tool
from llmcore.types import LLMCoreError, OutputParseError, RetryTool, ToolError
from llmcore.validator import parse
from tests.helpers.processes import sent
from tests.run.support import called

LENGTH = 1_000_000


def _talk(value: int) -> int:
    raise ValueError("x" * LENGTH)


Talkative = Annotated[int, AfterValidator(_talk)]


class Several(BaseModel):
    numbers: list[Talkative]


def test_what_a_validator_says_of_an_answer() -> None:
    with pytest.raises(LLMCoreError) as caught:
        Orchestrator(FakeModel(default='{"numbers": [1, 2, 3, 4, 5, 6]}')).execute_sync("x", Several)
    error = caught.value
    assert len(str(error)) <= MAX_MESSAGE
    assert all(len(attempt.detail) <= MAX_MESSAGE for attempt in error.attempts)
    assert len(error.partial.model_dump_json()) < 40 * MAX_MESSAGE
    assert len(ForkingPickler.dumps(error)) < 40 * MAX_MESSAGE


def test_what_a_validator_says_to_parse() -> None:
    with pytest.raises(OutputParseError) as caught:
        parse("1", Talkative)
    assert len(str(caught.value)) < 2 * MAX_WORDS
    assert all(len(problem.message) < 2 * MAX_WORDS for problem in caught.value.problems)


@tool
def fails(how: str) -> None:
    """Fails."""
    words = "z" * LENGTH
    if how == "own":
        raise ToolError(words, tool_name="fails", tool_id="1", type="execution")
    raise RetryTool(words) if how == "retry" else ValueError(words)


@pytest.mark.parametrize("how", ["own", "retry", "other"])
def test_what_a_tool_says(how: str) -> None:
    fake = FakeModel(called("fails", {"how": how}), "done")
    result = Orchestrator(fake, [fails]).run_sync("x")
    [record] = result.tool_results
    assert record.error is not None
    assert len(record.error.message) <= MAX_WORDS
    assert MAX_WORDS < len(record.content) < 60 * MAX_WORDS  # the model is told as much as of any result


@tool
def counts(numbers: list[Talkative]) -> int:
    """Counts."""
    return len(numbers)


def test_what_the_validators_of_arguments_say() -> None:
    fake = FakeModel(called("counts", {"numbers": [*range(50)]}), "done")
    [record] = Orchestrator(fake, [counts]).run_sync("x").tool_results
    assert record.error is not None
    assert len(record.error.message) <= MAX_WORDS
    assert record.content.endswith("and 30 more")


def test_what_an_adapter_raises() -> None:
    class Broken(FakeModel):
        lets_exceptions_through = False

        async def complete(self, call: Any) -> Any:
            raise ValueError("x" * LENGTH)

    with pytest.raises(LLMCoreError, match="the adapter Broken raised ValueError") as caught:
        Orchestrator(Broken("x")).run_sync("x")
    assert len(str(caught.value)) <= MAX_MESSAGE


def test_no_errors_message_is_longer() -> None:
    error = LLMCoreError("x" * LENGTH)
    assert len(str(error)) == MAX_MESSAGE
    assert str(sent(error)) == str(error)


def test_a_key_that_is_cut_in_half_is_hidden_all_the_same() -> None:
    key = "correct-horse-battery-staple-0123456789"
    remember([key])

    def quote(value: int) -> int:
        raise ValueError(clipped_words("y" * (MAX_WORDS - 50 - len("Value error, ")) + key + "z" * LENGTH))

    with pytest.raises(LLMCoreError) as caught:
        Orchestrator(FakeModel(default="1")).execute_sync("x", Annotated[int, AfterValidator(quote)])
    assert key[:20] not in str(caught.value)
