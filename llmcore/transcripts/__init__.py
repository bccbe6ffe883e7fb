"""Reads recorded runs of models, replays them through layers 2 and 3, and counts the results.

`read_transcripts(...)` yields `Transcript`s from JSON Lines, VCR cassettes, JSON and plain text. `Score` judges and
counts them for `llmcore replay`. The format: docs/transcripts.md. Nothing here calls a model or prints.
`formats` reads and `scoring` judges. They share only `model` and `errors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmcore.lazy_names import lazy_names

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

if not TYPE_CHECKING:
    _NAMES_BY_MODULE = {
        "errors": "TranscriptError",
        "formats.events": "EventSplitter looks_like_events split_events",
        "formats.reader": "TranscriptReader read_transcripts",
        "joining": "joined",
        "model": "AttemptNote Exchange Expectation ExpectedCall Transcript",
        "scoring.expectations": "Mismatch",
        "scoring.families": "family_of is_real_provider",
        "scoring.judging": "Judgement judge",
        "scoring.report": "DialectRow FamilyRow Finding ScoreReport",
        "scoring.score": "Score",
        "scoring.units": "Outcome Unit units_of",
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _NAMES_BY_MODULE)
