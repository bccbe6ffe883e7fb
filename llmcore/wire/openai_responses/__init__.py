"""OpenAI's Responses API: replies outward and rewritten, requests inward."""

from llmcore.wire.openai_responses.encoding import StreamEncoder, decode_messages, encode
from llmcore.wire.openai_responses.rewriting import StreamRewriter
from llmcore.wire.openai_responses.whole import rewrite

__all__ = ["StreamEncoder", "StreamRewriter", "decode_messages", "encode", "rewrite"]
