"""The tool loop and its state. The face is `llmcore.orchestrator`; what others need from here is `RunResult`."""

from llmcore.run.result import RunResult

__all__ = ["RunResult"]
