"""`llmcore record`: run prompts against a model and append the exchanges to a transcript file, for `llmcore
replay`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from llmcore.cli.helpers.model_choice import BaseUrlOption, ModelArgument, RegistryOption, SystemOption, ToolsOption, chosen_model
from llmcore.cli.output import as_json_text, exit_with_error, note, shortened_line, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llmcore import LLMCoreError, Orchestrator
    from llmcore.adapters.recording.recorder import Recorder
    from llmcore.models import ModelConfig, ModelRegistry

__all__ = ["record_command"]

_EXIT_RUN_FAILED = 1


def record_command(
    output: Annotated[Path, typer.Option("--output", "-o", help="The transcript file. Runs are appended.")],
    model: ModelArgument = "",
    prompts: Annotated[list[str] | None, typer.Argument(help="Each prompt is its own run.", metavar="PROMPT...")] = None,
    tools: ToolsOption = None,
    models: RegistryOption = None,
    base_url: BaseUrlOption = None,
    system: SystemOption = None,
    stream: Annotated[bool, typer.Option("--stream", help="Record streams, chunk by chunk.")] = False,
    max_turns: Annotated[int, typer.Option(min=1, help="The most tool turns of a run.")] = 10,
    provenance: Annotated[
        str | None, typer.Option(help="Where the replies come from. For a real provider, begin it with `live`.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON line for each run.")] = False,
    proxy: Annotated[
        str | None,
        typer.Option(
            help="Instead of MODEL and PROMPT: listen on loopback, forward requests of any client to this URL, record them.",
            metavar="URL",
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port of the proxy; 0 is any free port.")] = 0,
    provider: Annotated[str | None, typer.Option(help="The provider behind the proxy, if its URL does not show it.")] = None,
) -> None:
    """Record runs with their tool loop, re-asks and fallbacks, or with --proxy the requests of any client, without secrets.

    Exit code 0; 1: a run ended in an error (its exchanges are recorded anyway); 2: the command or its configuration is
    wrong.
    """
    import asyncio

    from llmcore.cli.helpers.record_proxy import record_by_proxy
    from llmcore.cli.helpers.tool_files import tool_objects

    _check_named(model, prompts, proxy=proxy)
    if proxy is not None and as_json:
        exit_with_error("--json is for runs; the file of --proxy has a JSON line for each exchange")
    if proxy is not None:
        _check_writable(output)
        record_by_proxy(proxy, output, port=port, provider=provider, provenance=provenance)
        return
    registry, config = chosen_model(model, models, base_url)
    offered = tool_objects(tools) if tools is not None else []
    _check_writable(output)
    session = _Session(registry, config, offered, output, provenance or _provenance(config), as_json=as_json)
    settings = {"system": system, "max_tool_turns": max_turns}
    failed = asyncio.run(session.record(prompts or [], settings, stream=stream))
    if failed:
        raise typer.Exit(_EXIT_RUN_FAILED)


def _check_named(model: str, prompts: list[str] | None, *, proxy: str | None) -> None:
    if proxy is not None and model:
        exit_with_error("--proxy records what clients ask: leave out MODEL and PROMPT")
    if proxy is None and not (model and prompts):
        exit_with_error("record needs a MODEL and a PROMPT, or --proxy URL")


def _provenance(config: ModelConfig) -> str:
    from llmcore.transcripts.formats.hosts import is_local

    local = config.provider == "ollama" if config.base_url is None else is_local(config.base_url)
    return f"{'local' if local else 'live'}: {config.provider} {config.model}, {datetime.now(UTC):%Y-%m-%d}"


def _check_writable(output: Path) -> None:
    """Check the file before the first request, since answers cost money."""
    try:
        output.open("a").close()
    except OSError as error:
        exit_with_error(f"{output}: {error.strerror or error}")


class _Session:
    """Runs prompts one after the other. Later runs know what earlier ones learned about the endpoint."""

    def __init__(
        self, registry: ModelRegistry, config: ModelConfig, tools: list[object], output: Path, provenance: str, *, as_json: bool
    ) -> None:
        from llmcore import CapabilityStore
        from llmcore.compiling import compile_tools

        self._registry = registry
        self._alias = config.alias
        self._tools = tools
        self._definitions = list(compile_tools(tools))
        self._output = output
        self._provenance = provenance
        self._as_json = as_json
        self._store = CapabilityStore()

    async def record(self, prompts: Sequence[str], settings: dict[str, Any], *, stream: bool) -> int:
        """Run the prompts, and return how many runs failed."""
        failed = 0
        for prompt in prompts:
            failed += not await self._record(prompt, settings, stream=stream)
        return failed

    async def _record(self, prompt: str, settings: dict[str, Any], *, stream: bool) -> bool:
        from llmcore import CallerError, LLMCoreError, Orchestrator
        from llmcore.adapters.litellm.adapter import LiteLLMAdapter
        from llmcore.adapters.recording.recorder import Recorder

        recorder = Recorder(provenance=self._provenance)
        adapter = LiteLLMAdapter(self._store, recorder.observe)
        try:
            async with Orchestrator(
                self._registry, self._tools, adapter=adapter, capabilities=self._store, **settings
            ) as orchestrator:
                await _run(orchestrator, prompt, self._alias, stream=stream)
        except CallerError:
            raise
        except LLMCoreError as error:
            self._tell(recorder, prompt, error)
            return False
        finally:
            if recorder.exchanges:
                recorder.write(self._output, id=f"{self._output.stem}-1", tools=self._definitions)
        self._tell(recorder, prompt, None)
        return True

    def _tell(self, recorder: Recorder, prompt: str, error: LLMCoreError | None) -> None:
        """Report a run: as a JSON line on standard output, or as a line on standard error."""
        count, words = len(recorder.exchanges), None if error is None else recorder.clean(str(error))
        if self._as_json:
            failure = None if error is None else {"type": type(error).__name__, "message": words}
            write(as_json_text({"prompt": recorder.clean(prompt), "exchanges": count, "error": failure}))
        elif error is None:
            note(f"recorded: {_shown(recorder, prompt)} ({count} exchanges)")
        else:
            note(f"failed: {_shown(recorder, prompt)}: {words}")


async def _run(orchestrator: Orchestrator, prompt: str, alias: str, *, stream: bool) -> None:
    if not stream:
        await orchestrator.run(prompt, model=alias)
        return
    async for _ in orchestrator.stream(prompt, model=alias):
        pass


def _shown(recorder: Recorder, prompt: str) -> str:
    """The beginning of the prompt without secrets, for the status line."""
    return shortened_line(recorder.clean(prompt), 60)
