"""What hooks make of a request, a reply, a call or its results: taken as it stands, or refused.

Rules
- A hook is shown a copy, so it reaches nothing but what it is asked about; what it changes in place counts as changed.
- What it gives back is checked and copied, and everything that repeats it (blocks, raw text, spans) is made to agree.
- What cannot be honoured is a `ConfigError` that names the hook and the fix.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, PrivateAttr, ValidationError

from llmcore.hooks import HookChain, Veto
from llmcore.run.copies import mended, refusing
from llmcore.run.history import fit_call, fit_reply, use_block
from llmcore.run.settings import Toolbox, resolve_request
from llmcore.tools import Tool, as_tool
from llmcore.tools.execution import Outcome
from llmcore.tools.results import shortened
from llmcore.types import (
    Block,
    CallerError,
    ConfigError,
    Envelope,
    ImageBlock,
    Message,
    ProviderBlock,
    RedactedThinkingBlock,
    Repair,
    Request,
    Segment,
    TerminateLoop,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolDefinition,
    ToolError,
    ToolResultBlock,
    ToolUseBlock,
)
from llmcore.types.copies import copied
from llmcore.validator import Problem, Strictness, validate
from llmcore.validator.problems import summary

__all__ = [
    "Decided",
    "fit_outcome",
    "hooked_call",
    "hooked_outcome",
    "hooked_reply",
    "hooked_request",
    "hooked_results",
    "wrong_call",
]

_log = logging.getLogger("llmcore.run")

Told = tuple[Tool, ToolDefinition]
Model = TypeVar("Model", bound=BaseModel)

_OF_THE_RUN = {"model": "models", "output_type": "typed output", "deadline": "deadlines"}
"""Fields of a request that are settled before a hook sees it."""


class _Offered(ToolDefinition):
    """A definition that knows its tool, also when a hook copies it under another name."""

    _tool: Tool = PrivateAttr()

    @classmethod
    def of(cls, tool: Tool, definition: ToolDefinition) -> _Offered:
        offered = cls.model_validate(copied(dict(definition)))
        offered._tool = tool
        return offered

    @property
    def told(self) -> Told:
        return self._tool, ToolDefinition.model_validate(dict(self))


def _refused(hook: str, words: str) -> ConfigError:
    return ConfigError(f"the hook {hook}: {words}")


def _read(hook: str, kind: type[Model], value: Model) -> Model:
    """What a hook gave back as a copy of our own; a model's `model_copy` validates nothing, so this does."""
    try:
        checked = kind.model_validate({name: getattr(value, name) for name in kind.model_fields})
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(map(str, problem["loc"]))
        raise _refused(hook, f"{kind.__name__}.{where} of what it returned: {problem['msg']}") from None
    return refusing(checked, lambda words: _refused(hook, f"in the {kind.__name__} it returned, {words}"))


# --- requests ---------------------------------------------------------------------------------------------------------


async def hooked_request(hooks: HookChain, request: Request, told: Iterable[Told]) -> tuple[Request, list[Told]]:
    """The request to send and the tools to offer with it, as `before_request` leaves them."""
    hook = "before_request"
    shown = request.model_copy(update={"messages": copied(request.messages), "tools": tuple(_Offered.of(*tool) for tool in told)})
    known = {offered.name: offered._tool for offered in shown.tools}  # pyright: ignore[reportPrivateUsage]  # of this module
    changed = await hooks.before_request(shown)
    try:
        left = [_told(given, known) for given in changed.tools]
        changed = resolve_request(changed.model_copy(update={"tools": ()}), {})
    except CallerError as error:
        raise _refused(hook, str(error)) from error
    _check_request(hook, request, changed, [definition.name for _, definition in left])
    return changed, left


def _told(given: object, known: dict[str, Tool]) -> Told:
    """A tool that a hook left, changed or added. A bare definition under a known name belongs to the known tool."""
    if isinstance(given, _Offered):
        return given.told
    tool = as_tool(given)
    if tool.function is None and tool.name in known:
        return known[tool.name], tool.definition
    return tool, tool.definition


def _check_request(hook: str, request: Request, changed: Request, names: list[str]) -> None:
    for field, what in _OF_THE_RUN.items():
        if getattr(changed, field) != getattr(request, field):
            raise _refused(hook, f"`{field}` cannot be changed here; {what} are settled when the run starts: give it to the call")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise _refused(hook, f"two tools are called {twice!r}; rename one")
    choice = changed.tool_choice
    if isinstance(choice, dict) and choice.get("name") not in names:
        raise _refused(hook, f"tool_choice names {choice.get('name')!r}, which is none of the tools {names}; change it too")
    if choice == "required" and not names:
        raise _refused(hook, "tool_choice is 'required' and no tool is left; set it to 'auto' or leave a tool")


# --- replies ----------------------------------------------------------------------------------------------------------


async def hooked_reply(hooks: HookChain, reply: Envelope) -> Envelope:
    """The reply as `on_response` leaves it; its blocks, its source, its repairs and the raw text of its calls hold
    nothing else."""
    hook = "on_response"
    if not hooks.has(hook):
        return reply
    given = await hooks.on_response(copied(reply).attach(reply.source, lambda: reply.segments, lambda: copied(reply.blocks)))
    changed = _read(hook, Envelope, given)
    calls = [call if _is_one_of(call, reply.tool_calls) else _restated(call) for call in changed.tool_calls]
    content = None if changed.content == reply.content else changed.content
    reasoning = None if changed.reasoning == reply.reasoning else changed.reasoning
    blocks = refusing(given.blocks, lambda words: _refused(hook, f"in the blocks it attached, {words}"))
    if content is None and reasoning is None and calls == reply.tool_calls:
        return changed.attach(reply.source, lambda: reply.segments, blocks)
    blocks, dropped = _agreeing(blocks, content, reasoning, calls)
    notes = [Repair(kind="opaque_parts_dropped", before=dropped)] if dropped else []
    changes: dict[str, Any] = {
        "tool_calls": [call.model_copy(update={"span": None}) for call in calls],
        "repairs": [*_without_values(changed.repairs), *notes],
    }
    if reply.tool_calls and not calls and reply.needs_more_work == changed.needs_more_work:
        changes["needs_more_work"] = None  # it was so for the sake of the calls
    source = changed.content
    segments = [Segment(0, len(source), "content")] if source else []
    return fit_reply(changed.model_copy(update=changes).attach(source, segments, blocks))


def _is_one_of(call: ToolCall, calls: Sequence[ToolCall]) -> bool:
    return any(call.id == one.id and _same_call(call, one) for one in calls)


def _same_call(call: ToolCall, other: ToolCall) -> bool:
    """Told apart are also what Python takes for equal (1, 1.0 and True)."""
    return json.dumps([call.name, call.arguments]) == json.dumps([other.name, other.arguments])


def _restated(call: ToolCall) -> ToolCall:
    """A call whose raw text and repairs say nothing of what the model had written."""
    raw = call.raw_arguments if call.arguments is None else json.dumps(call.arguments, ensure_ascii=False)
    return call.model_copy(update={"raw_arguments": raw, "span": None, "repairs": _without_values(call.repairs)})


def _without_values(repairs: Sequence[Repair]) -> list[Repair]:
    return [repair.model_copy(update={"before": None, "after": None}) for repair in repairs]


def _agreeing(
    blocks: Sequence[Block], content: str | None, reasoning: str | None, calls: Sequence[ToolCall]
) -> tuple[list[Block], int]:
    """The blocks with new text and new reasoning (None: as they were) and with just these calls, and how many opaque
    parts had to go: those of calls that went, and where text or reasoning changed all that belong to no call, since
    they may repeat it."""
    spoken = [TextBlock(text=content)] if content and content.strip() else []
    thoughts = [ThinkingBlock(thinking=reasoning)] if reasoning and reasoning.strip() else []
    waiting: defaultdict[str, deque[ToolCall]] = defaultdict(deque)
    for call in calls:
        waiting[call.id].append(call)
    made: list[Block] = []
    opaque_stay = repeats_nothing = content is None and reasoning is None
    dropped = 0
    for block in blocks:
        if isinstance(block, ProviderBlock):
            made += [block] if opaque_stay else []
            dropped += not opaque_stay
            continue
        opaque_stay = repeats_nothing
        if isinstance(block, ToolUseBlock):
            opaque_stay = bool(waiting[block.id])
            made += [use_block(waiting[block.id].popleft(), block)] if opaque_stay else []
        elif isinstance(block, TextBlock) and content is not None:
            made += spoken
            spoken = []
        elif isinstance(block, ThinkingBlock | RedactedThinkingBlock) and reasoning is not None:
            made += thoughts
            thoughts = []
        else:
            made.append(block)
    first_call = next((index for index, block in enumerate(made) if isinstance(block, ToolUseBlock)), len(made))
    made = [*thoughts, *made[:first_call], *spoken, *made[first_call:]]
    return [*made, *(use_block(call, None) for left in waiting.values() for call in left)], dropped


# --- calls and their results ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Decided:
    """A call as it may run. `changed`: not as the model made it; `problems`: why it may not run after all."""

    call: ToolCall
    changed: bool = False
    problems: Sequence[Problem] = ()


async def hooked_call(hooks: HookChain, call: ToolCall, context: Any, toolbox: Toolbox, strictness: Strictness) -> Veto | Decided:
    """The call as `before_tool_run` leaves it, judged again if it was changed. It keeps its id."""
    hook = "before_tool_run"
    if not hooks.has(hook):
        return Decided(copied(call))
    given = await hooks.before_tool_run(copied(call), context)
    if isinstance(given, Veto):
        return given
    changed = _read(hook, ToolCall, given).model_copy(update={"id": call.id})
    if _same_call(changed, call):
        return Decided(copied(call))
    report = validate(Envelope(toolCalls=[_restated(changed)]), toolbox.tool_set(), strictness=strictness)
    changed = fit_call(report.calls[0])
    tool = toolbox.get(changed.name)
    if not report.problems and (tool is None or tool.function is None):
        raise _refused(hook, f"it made a call of {changed.name!r}, which has no function; name a tool that can be run here")
    return Decided(changed, True, report.problems)


async def hooked_outcome(hooks: HookChain, call: ToolCall, outcome: Outcome) -> Outcome:
    """The outcome as `after_tool_run` leaves it; an `ended` that it sets ends the run."""
    hook = "after_tool_run"
    if not hooks.has(hook):
        return outcome
    given = await hooks.after_tool_run(copied(call), outcome)
    if given.call.id != call.id:
        raise _refused(
            hook, f"it returned an outcome of the call {given.call.id!r} for {call.id!r}; change the outcome that it was given"
        )
    for name, kind in (("error", ToolError), ("ended", TerminateLoop)):
        if not isinstance(getattr(given, name), kind | None):
            raise _refused(hook, f"the outcome's `{name}` must be None or a {kind.__name__}")
    given.call = call
    try:
        given.content = given.block().content
    except ValidationError:
        raise _refused(hook, "the outcome's `content` must be a list of TextBlock and ImageBlock") from None
    return given


def wrong_call(decided: Decided) -> Outcome:
    """The outcome of a call that a hook changed and that cannot run so; the model is told why."""
    call, problems = decided.call, decided.problems
    unknown = any(problem.kind == "unknown_tool" for problem in problems)
    error = ToolError(
        f"the changed call cannot run: {summary(problems)}",
        tool_name=call.name,
        tool_id=call.id,
        type="not_found" if unknown else "validation",
        details=[problem.model_dump() for problem in problems],
    )
    return Outcome(call, [TextBlock(text=error.message)], None, error)


def fit_outcome(outcome: Outcome, max_chars: int) -> Outcome:
    """The outcome with content that can be encoded, and a failure's no longer than any result may be."""
    content, found = mended(outcome.content)
    if found:
        _log.warning("the result of tool %r held text that cannot be encoded; it was replaced", outcome.call.name)
    outcome.content = content
    if outcome.error is not None and len(outcome.text) > max_chars:
        outcome.content = [TextBlock(text=shortened(outcome.text, max_chars)), *(b for b in content if isinstance(b, ImageBlock))]
    return outcome


async def hooked_results(hooks: HookChain, message: Message) -> Message:
    """The message with a turn's results as `on_tool_response` leaves it: one result for each call, in their order, and
    perhaps text or images after them."""
    hook = "on_tool_response"
    if not hooks.has(hook):
        return message
    changed = _read(hook, Message, await hooks.on_tool_response(copied(message)))
    order = [result.tool_use_id for result in message.tool_results]
    results = {result.tool_use_id: result for result in changed.tool_results}
    if changed.role != "tool" or len(changed.tool_results) != len(order) or results.keys() != set(order):
        got = [result.tool_use_id for result in changed.tool_results]
        raise _refused(
            hook, f"a {message.role} message with one result for each of {order} is due, not a {changed.role} message for {got}"
        )
    others = [block for block in changed.content if not isinstance(block, ToolResultBlock)]
    wrong = next((block.type for block in others if not isinstance(block, TextBlock | ImageBlock)), None)
    if wrong is not None:
        raise _refused(hook, f"a message of results holds results, text and images, no {wrong} block")
    return Message(role="tool", content=[*(results[call] for call in order), *others])
