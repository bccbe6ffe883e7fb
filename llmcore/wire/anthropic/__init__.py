"""Anthropic's messages: replies outward and rewritten, requests inward."""

from llmcore.wire.anthropic.encoding import AnthropicStreamEncoder as StreamEncoder
from llmcore.wire.anthropic.encoding import decode_anthropic_messages as decode_messages
from llmcore.wire.anthropic.encoding import encode_anthropic as encode
from llmcore.wire.anthropic.rewriting import AnthropicStreamRewriter as StreamRewriter
from llmcore.wire.anthropic.rewriting import rewrite_anthropic as rewrite

__all__ = ["StreamEncoder", "StreamRewriter", "decode_messages", "encode", "rewrite"]
