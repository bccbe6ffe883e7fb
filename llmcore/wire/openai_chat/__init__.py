"""OpenAI's chat completions: replies outward and rewritten, requests inward, and logs repaired."""

from llmcore.wire.openai_chat.encoding import StreamEncoder, decode_messages, encode
from llmcore.wire.openai_chat.logs import RepairedReply, RepairedRow, repair_row
from llmcore.wire.openai_chat.rewriting import StreamRewriter, rewrite

__all__ = [
    "RepairedReply",
    "RepairedRow",
    "StreamEncoder",
    "StreamRewriter",
    "decode_messages",
    "encode",
    "repair_row",
    "rewrite",
]
