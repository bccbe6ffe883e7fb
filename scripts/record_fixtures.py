"""Record `fixtures/recorded/*.jsonl` anew, through LiteLLM, from servers on this machine.

    .venv/bin/python -m tests.helpers.aimock        # once: the foreign mock, needs node and npm
    .venv/bin/python -m scripts.record_fixtures     # from the repository's root

No provider is called and no key is needed; the provenance of every line says so. What a run should give stands beside
what is answered, written by hand (`scripts/recorded/`), and is not taken from what came out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from scripts.recorded import adapter_runs, stack_runs
from tests.helpers.aimock import Aimock
from tests.helpers.wire_server import WireServer

FOLDER = Path(__file__).resolve().parent.parent / "fixtures" / "recorded"


async def record_all(folder: Path) -> None:
    """Record the runs and write a file a provider, each anew."""
    by_file: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    with ExitStack() as peers:
        foreign = peers.enter_context(Aimock(adapter_runs.AIMOCK_FIXTURES))
        for run in adapter_runs.RUNS:
            with WireServer([exchange.step or "" for exchange in run.exchanges]) as own:
                by_file[run.provider].append(await adapter_runs.record(run, foreign if run.foreign else own))
    for stack_run in stack_runs.RUNS:
        by_file[stack_run.models[0].provider].append(await stack_runs.record(stack_run))
    folder.mkdir(parents=True, exist_ok=True)
    for provider, lines in sorted(by_file.items()):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / f"{provider}.jsonl").write_text(text, "utf-8")
        print(f"{provider}.jsonl: {', '.join(line['id'] for line in lines)}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Record fixtures/recorded anew from servers on this machine.")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="the folder to write to")
    folder = parser.parse_args().output
    logging.getLogger("llmcore.adapters").setLevel(logging.ERROR)
    asyncio.run(record_all(folder))


if __name__ == "__main__":
    main()
