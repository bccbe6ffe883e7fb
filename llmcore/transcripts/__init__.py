"""Reads recorded runs of models, replays them through layers 2 and 3, and counts the results.

`read_transcripts(...)` yields `Transcript`s from JSON Lines, VCR cassettes, JSON and plain text. `Score` judges and
counts them for `llmcore replay`. The format: docs/transcripts.md. Nothing here calls a model or prints.
`formats` reads and `scoring` judges. They share only `model` and `errors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmcore.lazy_names import lazy_dir, lazy_names

if TYPE_CHECKING:
    from llmcore.transcripts.errors import TranscriptError as TranscriptError
    from llmcore.transcripts.formats.events import EventSplitter as EventSplitter
    from llmcore.transcripts.formats.events import looks_like_events as looks_like_events
    from llmcore.transcripts.formats.events import split_events as split_events
    from llmcore.transcripts.formats.reader import TranscriptReader as TranscriptReader
    from llmcore.transcripts.formats.reader import read_transcripts as read_transcripts
    from llmcore.transcripts.joining import joined as joined
    from llmcore.transcripts.model import AttemptNote as AttemptNote
    from llmcore.transcripts.model import Exchange as Exchange
    from llmcore.transcripts.model import Expectation as Expectation
    from llmcore.transcripts.model import ExpectedCall as ExpectedCall
    from llmcore.transcripts.model import Transcript as Transcript
    from llmcore.transcripts.scoring.expectations import Mismatch as Mismatch
    from llmcore.transcripts.scoring.families import family_of as family_of
    from llmcore.transcripts.scoring.families import is_real_provider as is_real_provider
    from llmcore.transcripts.scoring.judging import Judgement as Judgement
    from llmcore.transcripts.scoring.judging import judge as judge
    from llmcore.transcripts.scoring.report import DialectRow as DialectRow
    from llmcore.transcripts.scoring.report import FamilyRow as FamilyRow
    from llmcore.transcripts.scoring.report import Finding as Finding
    from llmcore.transcripts.scoring.report import ScoreReport as ScoreReport
    from llmcore.transcripts.scoring.score import Score as Score
    from llmcore.transcripts.scoring.units import Outcome as Outcome
    from llmcore.transcripts.scoring.units import Unit as Unit
    from llmcore.transcripts.scoring.units import units_of as units_of

_LAZY = {
    "AttemptNote": "model",
    "DialectRow": "scoring.report",
    "EventSplitter": "formats.events",
    "Exchange": "model",
    "Expectation": "model",
    "ExpectedCall": "model",
    "FamilyRow": "scoring.report",
    "Finding": "scoring.report",
    "Judgement": "scoring.judging",
    "Mismatch": "scoring.expectations",
    "Outcome": "scoring.units",
    "Score": "scoring.score",
    "ScoreReport": "scoring.report",
    "Transcript": "model",
    "TranscriptError": "errors",
    "TranscriptReader": "formats.reader",
    "Unit": "scoring.units",
    "family_of": "scoring.families",
    "is_real_provider": "scoring.families",
    "joined": "joining",
    "judge": "scoring.judging",
    "looks_like_events": "formats.events",
    "read_transcripts": "formats.reader",
    "split_events": "formats.events",
    "units_of": "scoring.units",
}

__all__ = [
    "AttemptNote",
    "DialectRow",
    "EventSplitter",
    "Exchange",
    "Expectation",
    "ExpectedCall",
    "FamilyRow",
    "Finding",
    "Judgement",
    "Mismatch",
    "Outcome",
    "Score",
    "ScoreReport",
    "Transcript",
    "TranscriptError",
    "TranscriptReader",
    "Unit",
    "family_of",
    "is_real_provider",
    "joined",
    "judge",
    "looks_like_events",
    "read_transcripts",
    "split_events",
    "units_of",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _LAZY), lazy_dir(__name__, _LAZY)
