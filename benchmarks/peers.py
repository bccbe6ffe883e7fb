"""SGLang's tool-call detectors, running in this interpreter beside ours.

`python -m benchmarks.peers` installs them into `benchmarks/.peers`, a folder of their own that only these scripts see.

Their modules are run as published. What stands around them is replaced, since it would drag in torch and a GPU stack: the packages
above `sglang.srt.function_call` become bare namespaces (their `__init__` is not run); of the OpenAI protocol module only `Tool`,
`Function` and `ToolChoice` exist, with the same fields; and `xgrammar`, which builds grammars for constrained decoding and takes
no part in parsing, is an empty stand-in. None of it runs while a detector parses.
"""

from __future__ import annotations

import importlib
import json
import logging
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel

__all__ = ["DETECTORS", "EXPONENTIAL", "FOLDER", "Peer", "available", "install", "load", "says"]

FOLDER = Path(__file__).parent / ".peers"
_PINS = ("sglang==0.5.23", "orjson==3.13.0", "partial-json-parser==0.2.1.1.post7", "msgspec==0.22.0")
_NAMESPACES = ("sglang", "sglang.srt", "sglang.srt.entrypoints", "sglang.srt.entrypoints.openai", "sglang.srt.parser")

DETECTORS: dict[str, tuple[str, str]] = {
    "hermes": ("hermes_detector", "HermesDetector"),
    "internlm2": ("internlm_detector", "InternlmDetector"),
    "gigachat3": ("gigachat3_detector", "GigaChat3Detector"),
    "gigachat3_1": ("gigachat3_detector", "GigaChat3Detector"),
    "llama3_json": ("llama32_detector", "Llama32Detector"),
    "mistral_array": ("mistral_detector", "MistralDetector"),
    "mistral_v11": ("mistral_detector", "MistralDetector"),
    "cohere_action": ("cohere_command4_detector", "CohereCommand4Detector"),
    "apertus": ("apertus2509_detector", "Apertus2509Detector"),
    "kimi_k2": ("kimik2_detector", "KimiK2Detector"),
    "deepseek_v3": ("deepseekv3_detector", "DeepSeekV3Detector"),
    "deepseek_v31": ("deepseekv31_detector", "DeepSeekV31Detector"),
    "qwen3_coder": ("qwen3_coder_detector", "Qwen3CoderDetector"),
    "mimo": ("mimo_detector", "MiMoDetector"),
    "minimax_m2": ("minimax_m2", "MinimaxM2Detector"),
    "dsml_v32": ("deepseekv32_detector", "DeepSeekV32Detector"),
    "dsml_v4": ("deepseekv4_detector", "DeepSeekV4Detector"),
    "dsml_v41": ("deepseekv41_detector", "DeepSeekV41Detector"),
    "dots": ("dots_detector", "DotsToolDetector"),
    "step3": ("step3_detector", "Step3Detector"),
    "minicpm5": ("minicpm5_detector", "MiniCPM5Detector"),
    "harmony": ("gpt_oss_detector", "GptOssDetector"),
    "atem": ("muse_glimmer_detector", "MuseGlimmerDetector"),
    "beam": ("beam_detector", "BeamDetector"),
    "kimi_k3": ("kimik3_detector", "KimiK3Detector"),
    "inkling": ("inkling_detector", "InklingDetector"),
    "gemma4": ("gemma4_detector", "Gemma4Detector"),
    "minimax_m3": ("minimax_m3", "MinimaxM3Detector"),
    "glm45": ("glm4_moe_detector", "Glm4MoeDetector"),
    "glm47": ("glm47_moe_detector", "Glm47MoeDetector"),
    "hunyuan_v3": ("hunyuan_detector", "HunyuanDetector"),
    "iquest": ("iquest_q1_detector", "IQuestQ1Detector"),
    "k2_horizon": ("k2_v3_detector", "K2V3Detector"),
    "pythonic": ("pythonic_detector", "PythonicDetector"),
    "llama4_pythonic": ("pythonic_detector", "PythonicDetector"),
    "lfm2": ("lfm2_detector", "Lfm2Detector"),
}
"""Dialects of our registry that SGLang has a detector for: its module and class."""

EXPONENTIAL = frozenset({"pythonic", "llama4_pythonic"})
"""Its regular expression takes ten times as long for each further argument (7 arguments: 3 s), so it is given two."""


class _Function(BaseModel):
    name: str
    description: str | None = None
    parameters: object = None
    strict: bool | None = None


class _Tool(BaseModel):
    type: str = "function"
    function: _Function


class _ToolChoice(BaseModel):
    type: str = "function"
    function: object = None


def available() -> bool:
    return (FOLDER / "sglang").is_dir()


def install() -> None:
    """Install the pinned peers, without their dependencies, into `FOLDER`. Raises `CalledProcessError`."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "--target", str(FOLDER), *_PINS], check=True)


def _module(name: str, **members: object) -> None:
    module = ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module


def _prepare() -> None:
    """Make `sglang.srt.function_call` importable without what stands around it (see the top of this file)."""
    if not available():
        raise SystemExit("SGLang's detectors are not there: run `make bench-setup` (python -m benchmarks.peers)")
    sys.path.append(str(FOLDER))
    for name in _NAMESPACES:
        _module(name, __path__=[str(FOLDER.joinpath(*name.split(".")))])
    _module("sglang.srt.entrypoints.openai.protocol", Tool=_Tool, Function=_Function, ToolChoice=_ToolChoice)
    grammar = type("NotUsedForParsing", (), {})
    _module("xgrammar", StructuralTag=grammar, get_model_structural_tag=None)
    sys.modules["xgrammar"].__path__ = []
    structural = ModuleType("xgrammar.structural_tag")
    structural.__getattr__ = lambda name: grammar  # type: ignore[method-assign]  # a module's __getattr__ (PEP 562)
    sys.modules[structural.__name__] = structural
    logging.disable(logging.CRITICAL)  # a warning for each call they cannot read would be timed


class Peer:
    """One detector, told the dialect and the tools. A detector serves one reply, as in SGLang's server."""

    def __init__(self, detector: Callable[[], Any], tools: Sequence[dict[str, Any]]) -> None:
        self._detector = detector
        self._tools = [_Tool(function=_Function(**tool)) for tool in tools]

    def parse(self, text: str) -> Any:
        return self._detector().detect_and_parse(text, self._tools)

    def stream(self, chunks: Sequence[str], seconds: float = 60.0) -> tuple[str, str]:
        """(name, arguments) of the first call, from the pieces it gives for the chunks.

        Raises `TimeoutError` with the number of chunks done when that takes more than `seconds` of CPU.
        """
        detector, tools = self._detector(), self._tools
        name = arguments = ""
        until = time.thread_time() + seconds
        for done, chunk in enumerate(chunks):
            if done % 64 == 63 and time.thread_time() > until:
                raise TimeoutError(done)
            for call in detector.parse_streaming_increment(chunk, tools).calls:
                if call.tool_index == 0:
                    name = call.name or name
                    arguments += call.parameters or ""
        return name, arguments

    def reads(self, text: str, name: str, arguments: dict[str, Any], *, times: int = 1) -> bool:
        """Is `text` one call of `name` with `arguments` to it, or so many of it?"""
        try:
            calls = self.parse(text).calls
        except Exception:
            return False
        return len(calls) == times and all(call.name == name and _equal(call.parameters, arguments) for call in calls)


def says(told: tuple[str, str], name: str, arguments: dict[str, Any]) -> bool:
    """Is what `Peer.stream` gave a call of `name` with `arguments`?"""
    return told[0] == name and _equal(told[1], arguments)


def _equal(written: str, arguments: dict[str, Any]) -> bool:
    try:
        return bool(json.loads(written) == arguments)
    except ValueError:
        return False


def load(tools: Sequence[dict[str, Any]], dialects: Sequence[str] | None = None) -> dict[str, Peer]:
    """The detectors of the dialects named (all it has), for these tools (dicts with name and parameters)."""
    _prepare()
    found: dict[str, Peer] = {}
    for dialect, (module, name) in DETECTORS.items():
        if dialects is None or dialect in dialects:
            detector = getattr(importlib.import_module(f"sglang.srt.function_call.{module}"), name)
            found[dialect] = Peer(detector, tools)
    return found


if __name__ == "__main__":
    install()
    print(f"installed into {FOLDER}: {', '.join(_PINS)}")
