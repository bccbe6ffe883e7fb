"""Applies what hooks return for a request, a reply, a call or its results, or refuses it.

- A hook gets a copy, so it can change nothing else. What it changes in place counts as changed.
- What it returns is validated and copied. Whatever repeats it (blocks, raw text, spans) is made to agree.
- If a change cannot be applied, a `ConfigError` names the hook and the fix.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, PrivateAttr, TypeAdapter, ValidationError

from llmcore.hooks import HookChain, Veto
from llmcore.run.hooks.hook_edits import (
    OutcomeBefore,
    consistent_outcome,
    consistent_reply,
    rebuilt_envelope,
    same_call,
    without_model_text,
)
from llmcore.run.results.boundary_copies import checked_copy, damage_repairs, encodable_copy, is_encodable
from llmcore.run.results.history import encodable_call, encodable_reply
from llmcore.run.setup.settings import Toolbox, resolve_request
from llmcore.support.values.copies import copied, updated
from llmcore.tools import Tool, as_tool
from llmcore.tools.results.outcome import Outcome, is_readable_error
from llmcore.tools.results.rendering import UnwritableResult, shortened_text
from llmcore.types import (
    Block,
    CallerError,
    ConfigError,
    Envelope,
    MediaBlock,
    Message,
    ProviderBlock,
    RedactedThinkingBlock,
    Request,
    ResultBlock,
    TerminateLoop,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolDefinition,
    ToolError,
    ToolResultBlock,
    ToolUseBlock,
)
from llmcore.types.logs import logger
from llmcore.validator import Problem, Strictness, validate_calls
from llmcore.validator.schema.problems import summary

__all__ = [
    "CheckedCall",
    "changed_call",
    "encodable_outcome",
    "hooked_call",
    "hooked_outcome",
    "hooked_reply",
    "hooked_request",
    "hooked_results",
    "invalid_call_outcome",
    "invalid_change",
    "revalidated",
    "revalidated_call",
]

_log = logger("run")

OfferedTool = tuple[Tool, ToolDefinition]
_TurnBlock = Annotated[
    ResultBlock | ToolUseBlock | ThinkingBlock | RedactedThinkingBlock | ProviderBlock, Field(discriminator="type")
]
_BLOCKS: TypeAdapter[list[_TurnBlock]] = TypeAdapter(list[_TurnBlock])
"""The blocks that an assistant message may hold."""
Model = TypeVar("Model", bound=BaseModel)

_FIXED_FIELDS = {"model": "models", "output_type": "typed output", "deadline": "deadlines"}
"""The fields of a request that are fixed before a hook sees it."""


class _Offered(ToolDefinition):
    """A tool definition that knows its tool, even if a hook copies it under another name."""

    _tool: Tool = PrivateAttr()

    @classmethod
    def of(cls, tool: Tool, definition: ToolDefinition) -> _Offered:
        offered = cls.model_validate(copied(dict(definition)))
        offered._tool = tool
        return offered

    @property
    def definitions(self) -> OfferedTool:
        return self._tool, ToolDefinition.model_validate(dict(self))


def _hook_error(hook: str, words: str) -> ConfigError:
    return ConfigError(f"the hook {hook}: {words}")


def _validated_copy(hook: str, kind: type[Model], value: Model) -> Model:
    """A validated copy of what a hook returned. Pydantic's `model_copy` validates nothing, so this validates at every depth."""
    with _naming_hook(hook):
        checked = kind.model_validate({name: revalidated(getattr(value, name)) for name in kind.model_fields})
        return checked_copy(checked, lambda words: _hook_error(hook, f"in the {kind.__name__} it returned, {words}"))


@contextmanager
def _naming_hook(hook: str, what: str = "") -> Generator[None]:
    """A context in which validation errors become errors that name the hook, and `what` it returned (default: the model)."""
    try:
        yield
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(map(str, problem["loc"]))
        raise _hook_error(hook, f"{what or error.title}.{where} of what it returned: {problem['msg']}") from None
    except RecursionError:
        raise _hook_error(hook, "what it returned holds itself, or is nested too deeply to be sent") from None


def revalidated(value: Any) -> Any:
    """The value with each model in it validated. Pydantic does not validate a model that stands in another one."""
    if isinstance(value, BaseModel):
        return type(value).model_validate({name: revalidated(getattr(value, name)) for name in type(value).model_fields})
    return [revalidated(item) for item in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]  # any list


# --- requests ---------------------------------------------------------------------------------------------------------


async def hooked_request(hooks: HookChain, request: Request, tools: Iterable[OfferedTool]) -> tuple[Request, list[OfferedTool]]:
    """The request to send and the tools to offer with it, as `before_request` returns them."""
    hook = "before_request"
    shown = request.model_copy(update={"tools": tuple(_Offered.of(*tool) for tool in tools)})
    known = {offered.name: offered._tool for offered in shown.tools}  # pyright: ignore[reportPrivateUsage]  # of this module
    changed = await hooks.before_request(shown)
    with _naming_hook(hook):
        try:
            if hooks.has(hook):
                changed = changed.model_copy(update={"messages": revalidated(changed.messages)})
            changed = resolve_request(changed, {})
            left = [_tool_of(given, known) for given in changed.tools]
        except CallerError as error:
            raise _hook_error(hook, str(error)) from error
    if wrong := invalid_change(request, changed, [definition.name for _, definition in left]):
        raise _hook_error(hook, wrong)
    return updated(changed, {"tools": ()}), left


def _tool_of(given: object, known: dict[str, Tool]) -> OfferedTool:
    """A tool that a hook kept, changed or added. A bare definition with the name of a known tool belongs to that tool."""
    if isinstance(given, _Offered):
        return given.definitions
    tool = as_tool(given)
    if tool.function is None and tool.name in known:
        return known[tool.name], tool.definition
    return tool, tool.definition


def invalid_change(request: Request, changed: Request, names: list[str]) -> str:
    """Why a changed request is invalid, given the names of its tools; "" if it is valid."""
    for field, what in _FIXED_FIELDS.items():
        if getattr(changed, field) != getattr(request, field):
            return f"`{field}` cannot be changed here; {what} are fixed when the run starts: give it to the call"
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        return f"two tools are called {twice!r}; rename one"
    choice = changed.tool_choice
    if isinstance(choice, dict) and choice.get("name") not in names:
        return f"tool_choice names {choice.get('name')!r}, which is none of the tools {names}; change it too"
    if choice == "required" and not names:
        return "tool_choice is 'required' and no tool is left; set it to 'auto' or leave a tool"
    return ""


# --- replies ----------------------------------------------------------------------------------------------------------


async def hooked_reply(hooks: HookChain, reply: Envelope) -> Envelope:
    """The reply as `on_response` returns it. Its blocks, source, repairs and the raw text of its calls agree with it."""
    hook = "on_response"
    if not hooks.has(hook):
        return reply
    blocks, found = encodable_copy(reply.blocks)
    if found:
        reply = updated(reply, {"repairs": [*reply.repairs, *damage_repairs(found)]})
    before = reply.model_copy(update={"blocks": blocks})
    given = await hooks.on_response(before.model_copy())
    changed = _validated_copy(hook, Envelope, given)
    agreed = consistent_reply(before, changed, _read_blocks(hook, given))
    if given.source != before.source:
        agreed = rebuilt_envelope(agreed, agreed.tool_calls, agreed.blocks)
    return encodable_reply(agreed)


def _read_blocks(hook: str, given: Envelope) -> list[Block]:
    with _naming_hook(hook, "Envelope.blocks"):
        try:
            blocks: list[Block] = [*_BLOCKS.validate_python(revalidated([*given.blocks]))]
        except TypeError as error:
            raise _hook_error(hook, f"Envelope.blocks of what it returned: {error}") from None
        return checked_copy(blocks, lambda words: _hook_error(hook, f"in the blocks of the Envelope it returned, {words}"))


# --- calls and their results ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class CheckedCall:
    """A validated call. `changed`: whether it differs from the model's call. `problems`: why it may not run."""

    call: ToolCall
    changed: bool = False
    problems: Sequence[Problem] = ()


async def hooked_call(
    hooks: HookChain, call: ToolCall, context: Any, toolbox: Toolbox, strictness: Strictness
) -> Veto | CheckedCall:
    """The call as `before_tool_run` returns it, validated again if it was changed. It keeps its id."""
    hook = "before_tool_run"
    if not hooks.has(hook):
        return CheckedCall(copied(call))
    given = await hooks.before_tool_run(copied(call), context)
    if isinstance(given, Veto):
        return given
    decided = changed_call(call, _validated_copy(hook, ToolCall, given), toolbox, strictness)
    name = decided.call.name
    if not decided.problems and toolbox.can_run(name) != toolbox.can_run(call.name):
        has, due = ("has no function", "can") if toolbox.can_run(call.name) else ("has a function", "cannot")
        raise _hook_error(hook, f"it made a call of {name!r}, which {has}; name a tool that {due} be run here")
    return decided


def changed_call(call: ToolCall, changed: ToolCall, toolbox: Toolbox, strictness: Strictness) -> CheckedCall:
    """The call as a hook or the caller changed it, validated again if it differs. It keeps its id."""
    changed = updated(changed, {"id": call.id})
    if same_call(changed, call) and changed.complete:
        return CheckedCall(copied(call))
    report = validate_calls(Envelope(toolCalls=[without_model_text(changed)]), toolbox.tool_set(), strictness=strictness)
    return CheckedCall(encodable_call(report.calls[0]), True, report.problems)


def revalidated_call(call: ToolCall, toolbox: Toolbox, strictness: Strictness) -> CheckedCall:
    """A call of an earlier run, validated by the tools of this one."""
    report = validate_calls(Envelope(toolCalls=[call]), toolbox.tool_set(), strictness=strictness)
    made = encodable_call(report.calls[0])
    return CheckedCall(made, not same_call(made, call), report.problems)


_OUTCOME_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "call": (lambda value: isinstance(value, ToolCall), "the ToolCall"),
    "error": (lambda value: isinstance(value, ToolError | None), "None or a ToolError"),
    "ended": (lambda value: isinstance(value, TerminateLoop | None), "None or a TerminateLoop"),
    "duration": (lambda value: isinstance(value, float | int) and 0 <= value <= _MAX_NUMBER, "a number of seconds"),
    "retries": (lambda value: isinstance(value, int) and 0 <= value <= _MAX_NUMBER, "a whole number"),
    "summary": (lambda value: isinstance(value, str), "a text"),
}
_MAX_NUMBER = 10**9


async def hooked_outcome(hooks: HookChain, call: ToolCall, outcome: Outcome, max_chars: int) -> Outcome:
    """The outcome as `after_tool_run` returns it. If it sets `ended`, the run ends."""
    hook = "after_tool_run"
    if not hooks.has(hook):
        return outcome
    before, original = OutcomeBefore.of(outcome, max_chars), replace(outcome)
    given = await hooks.after_tool_run(copied(call), outcome)
    for name, (is_one, words) in _OUTCOME_FIELDS.items():
        if not is_one(getattr(given, name)):
            raise _hook_error(hook, f"the outcome's `{name}` must be {words}")
    if given.error is not None and not is_readable_error(given.error):
        raise _hook_error(hook, "the outcome's `error` has no readable message, type, tool_name or tool_id")
    if given.call.id != call.id:
        raise _hook_error(
            hook, f"it returned an outcome of the call {given.call.id!r} for {call.id!r}; change the outcome that it was given"
        )
    try:
        content = revalidated(ToolResultBlock(tool_use_id=call.id, content=given.content).content)
        given = replace(given, call=call, content=content, ran=original.ran, raised=original.raised, suspended=original.suspended)
        return consistent_outcome(before, given, max_chars)
    except (ConfigError, ValidationError):  # an invalid block
        raise _hook_error(hook, "the outcome's `content` must be a list of ResultBlock: texts and media") from None
    except UnwritableResult as error:
        raise _hook_error(hook, f"the outcome's `value`: {error}") from error


def invalid_call_outcome(decided: CheckedCall, what: str = "the changed call") -> Outcome:
    """The error outcome of a changed call that cannot run. It tells the model why."""
    call, problems = decided.call, decided.problems
    unknown = any(problem.kind == "unknown_tool" for problem in problems)
    error = ToolError(
        f"{what} cannot run: {summary(problems)}",
        tool_name=call.name,
        tool_id=call.id,
        type="not_found" if unknown else "validation",
        details=[problem.model_dump() for problem in problems],
    )
    return Outcome(call, [TextBlock(text=error.message)], None, error)


def encodable_outcome(outcome: Outcome, max_chars: int) -> Outcome:
    """The outcome with encodable content. If it failed, its text is cut to `max_chars`."""
    content = outcome.content
    if not is_encodable(content):
        content, _ = encodable_copy(content)
        _log.warning("the result of tool %r held text that cannot be encoded; it was replaced", outcome.call.name)
    outcome.content = [*content]
    if outcome.error is not None and len(outcome.text) > max_chars:
        outcome.content = [
            TextBlock(text=shortened_text(outcome.text, max_chars)),
            *(b for b in content if isinstance(b, MediaBlock)),
        ]
    return outcome


async def hooked_results(hooks: HookChain, message: Message) -> Message:
    """The message with a turn's results as `on_tool_response` returns it: one result for each call, in order, then perhaps text
    or media."""
    hook = "on_tool_response"
    if not hooks.has(hook):
        return message
    changed = _validated_copy(hook, Message, await hooks.on_tool_response(copied(message)))
    order = [result.tool_use_id for result in message.tool_results]
    results = {result.tool_use_id: result for result in changed.tool_results}
    if changed.role != "tool" or len(changed.tool_results) != len(order) or results.keys() != set(order):
        got = [result.tool_use_id for result in changed.tool_results]
        raise _hook_error(
            hook, f"a {message.role} message with one result for each of {order} is due, not a {changed.role} message for {got}"
        )
    others = [block for block in changed.content if not isinstance(block, ToolResultBlock)]
    wrong = next((block.type for block in others if not isinstance(block, TextBlock | MediaBlock)), None)
    if wrong is not None:
        raise _hook_error(hook, f"a message of results holds results, text and media, no {wrong} block")
    named = [updated(results[shown.tool_use_id], {"name": shown.name}) for shown in message.tool_results]
    return Message(role="tool", content=[*named, *others])
