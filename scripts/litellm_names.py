"""Write `adapters/providers/litellm_names.json`: the providers that LiteLLM routes, and the models it lists for those whose
rows of our table tell the names of their models, and for those without a row that serve models of their own only.

    .venv/bin/python scripts/litellm_names.py

Made from the installed LiteLLM's files, without importing it (which takes seconds): run it when the locked version changes.
"""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from llmcore.adapters.providers import PROVIDERS

OUT = Path(__file__).parent.parent / "adapters" / "providers" / "litellm_names.json"
CHAT = frozenset({"chat", "completion", "responses"})
WITHOUT_A_ROW = {
    **{name: name for name in ("ai21", "cohere_chat", "minimax", "moonshot", "perplexity", "zai")},
    "cohere": "cohere_chat",
}
"""Providers that serve their own models under names of their own, by LiteLLM's name, and what their list is called."""


def package() -> Path:
    spec = find_spec("litellm")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def providers(folder: Path) -> list[str]:
    """The values of LiteLLM's enum of providers, read from its source."""
    tree = ast.parse((folder / "types" / "utils.py").read_text(encoding="utf-8"))
    (found,) = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == "LlmProviders")
    values = (node.value for node in found.body if isinstance(node, ast.Assign))
    return sorted(value.value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str))


def models(folder: Path) -> dict[str, list[str]]:
    table = json.loads((folder / "model_prices_and_context_window_backup.json").read_bytes())
    wanted = {**WITHOUT_A_ROW, **{row.prefix: row.name for row in PROVIDERS.values() if row.model_names}}
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, entry in table.items():
        prefix = entry.get("litellm_provider")
        if prefix in wanted and entry.get("mode") in CHAT:
            found[wanted[prefix]].add(name.removeprefix(f"{prefix}/"))
    return {name: sorted(names) for name, names in sorted(found.items())}


def main() -> None:
    folder = package()
    by_provider = models(folder)
    data = {"litellm": version("litellm"), "providers": providers(folder), "models": by_provider}
    OUT.write_text(json.dumps(data, indent=0) + "\n", encoding="utf-8")
    print(f"{OUT}: {len(data['providers'])} providers, {sum(map(len, by_provider.values()))} models")


if __name__ == "__main__":
    main()
