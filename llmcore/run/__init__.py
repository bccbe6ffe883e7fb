"""The tool loop and its state. The face is `llmcore.orchestrator`; what others need from here is the
result, what goes into a running run and comes out of it, and who is told of it."""

from llmcore.run.answers import Answer, Approve, CallAnswer, Deny
from llmcore.run.claims import FileStore, RunStore
from llmcore.run.event_json import event_json
from llmcore.run.interjections import Interjections
from llmcore.run.observed import ObservedRun, ToolRetry
from llmcore.run.observing import Observer
from llmcore.run.open_calls import OpenCall
from llmcore.run.recording import record
from llmcore.run.result import RunResult
from llmcore.run.stepping import Step, Steps
from llmcore.run.streams import RunStream, SyncRunStream
from llmcore.run.tool_stats import ToolStatistics, ToolStats

__all__ = [
    "Answer",
    "Approve",
    "CallAnswer",
    "Deny",
    "FileStore",
    "Interjections",
    "ObservedRun",
    "Observer",
    "OpenCall",
    "RunResult",
    "RunStore",
    "RunStream",
    "Step",
    "Steps",
    "SyncRunStream",
    "ToolRetry",
    "ToolStatistics",
    "ToolStats",
    "event_json",
    "record",
]
