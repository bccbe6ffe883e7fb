"""Replies and requests in the forms of OpenAI's and Anthropic's APIs, for programs that stand between a client and a model.

`openai_chat`, `openai_responses` and `anthropic` have the same five names:

- `encode` and `StreamEncoder` write an envelope, or the events of a stream, in the form of the API.
- `rewrite` and `StreamRewriter` take a reply in the form of the API, and make the calls in its text native ones.
- `decode_messages` reads the history of a request.

The names of this module serve all of them, and `sse` has the framing of streams. docs/wire.md shows how they fit together.
Nothing here makes a request. Python loads the names below at first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmcore.lazy_names import lazy_names

if TYPE_CHECKING:
    from llmcore.wire.append_only import AppendOnlyStream as AppendOnlyStream
    from llmcore.wire.exchange import ExchangeOptions as ExchangeOptions
    from llmcore.wire.exchange import HttpExchange as HttpExchange
    from llmcore.wire.ids import new_id as new_id
    from llmcore.wire.ids import with_new_ids as with_new_ids
    from llmcore.wire.offering import Offered as Offered
    from llmcore.wire.offering import WithheldCall as WithheldCall
    from llmcore.wire.offering import offered as offered
    from llmcore.wire.rewriting import ReplyReport as ReplyReport
    from llmcore.wire.rewriting import RewriteSettings as RewriteSettings
    from llmcore.wire.rewriting import Rewritten as Rewritten
    from llmcore.wire.tools import DecodedTools as DecodedTools
    from llmcore.wire.tools import decode_tools as decode_tools

if not TYPE_CHECKING:
    _NAMES_BY_MODULE = {
        "append_only": "AppendOnlyStream",
        "exchange": "ExchangeOptions HttpExchange",
        "ids": "new_id with_new_ids",
        "offering": "Offered WithheldCall offered",
        "rewriting": "ReplyReport RewriteSettings Rewritten",
        "tools": "DecodedTools decode_tools",
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _NAMES_BY_MODULE)
