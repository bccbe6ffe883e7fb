"""OpenAI's chat completions: replies outward and rewritten, requests inward."""

from llmcore.wire.openai_chat.encoding import StreamEncoder, decode_messages, encode
from llmcore.wire.openai_chat.rewriting import StreamRewriter, rewrite

__all__ = ["StreamEncoder", "StreamRewriter", "decode_messages", "encode", "rewrite"]
