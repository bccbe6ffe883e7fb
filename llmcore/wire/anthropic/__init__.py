"""Anthropic's messages: replies outward and rewritten, requests inward."""

from llmcore.wire.anthropic.encoding import StreamEncoder, decode_messages, encode
from llmcore.wire.anthropic.rewriting import StreamRewriter, rewrite

__all__ = ["StreamEncoder", "StreamRewriter", "decode_messages", "encode", "rewrite"]
