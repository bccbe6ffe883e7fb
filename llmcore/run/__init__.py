"""The tool loop and its state. `llmcore.orchestrator` is its public interface.

This package exports the result of a run, what goes into a running run, what comes out of it, and its observers.
"""

from llmcore.run.observing.events import ObservedRun, ToolRetry
from llmcore.run.observing.observers import Observer
from llmcore.run.observing.recording import record
from llmcore.run.observing.tool_stats import ToolStatistics, ToolStats
from llmcore.run.results.open_calls import OpenCall
from llmcore.run.results.result import RunResult
from llmcore.run.resume.answers import Answer, Approve, CallAnswer, Deny
from llmcore.run.resume.claims import FileStore, RunStore
from llmcore.run.setup.interjections import Interjections
from llmcore.run.streaming.event_json import event_json
from llmcore.run.streaming.run_stream import RunStream, SyncRunStream
from llmcore.run.streaming.steps import Step, Steps

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
