"""OpenAI's Responses API: replies outward and rewritten, requests inward."""

from llmcore.wire.openai_responses.encoding import ResponsesStreamEncoder as StreamEncoder
from llmcore.wire.openai_responses.encoding import decode_responses_messages as decode_messages
from llmcore.wire.openai_responses.encoding import encode_responses as encode
from llmcore.wire.openai_responses.rewriting import ResponsesStreamRewriter as StreamRewriter
from llmcore.wire.openai_responses.whole import rewrite_responses as rewrite

__all__ = ["StreamEncoder", "StreamRewriter", "decode_messages", "encode", "rewrite"]
