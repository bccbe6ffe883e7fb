"""The tool loop and its state. The face is `llmcore.orchestrator`; what others need from here is the
result, and what goes into a running run and comes out of it."""

from llmcore.run.answers import Answer, Approve, CallAnswer, Deny
from llmcore.run.interjections import Interjections
from llmcore.run.open_calls import OpenCall
from llmcore.run.result import RunResult
from llmcore.run.stepping import Step, Steps
from llmcore.run.streams import RunStream, SyncRunStream

__all__ = [
    "Answer",
    "Approve",
    "CallAnswer",
    "Deny",
    "Interjections",
    "OpenCall",
    "RunResult",
    "RunStream",
    "Step",
    "Steps",
    "SyncRunStream",
]
