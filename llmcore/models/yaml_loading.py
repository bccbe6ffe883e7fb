"""YAML by the safe loader, made to refuse a key that is given twice."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import yaml

from llmcore.types import ConfigError

__all__ = ["load_yaml"]


class _UniqueKeyLoader(yaml.SafeLoader):
    """Plain YAML takes the last of two equal keys and says nothing."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key_node, _ in node.value:
            key = str(key_node.value)
            if key in seen and key != "<<":
                raise yaml.MarkedYAMLError(problem=f"{key!r} is given twice", problem_mark=key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def load_yaml(text: str, source: str) -> Any:
    """The data of one YAML document. Raises `ConfigError` with the file and line."""
    loader = _UniqueKeyLoader(text)
    try:
        return loader.get_single_data()
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigError(f"{source}{line}: not a valid registry file: {error.problem}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{source}: not valid YAML: {error}") from None
    finally:
        loader.dispose()
