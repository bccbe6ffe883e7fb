"""OpenAI's chat completions: replies outward and rewritten, requests inward, and logs repaired."""

from llmcore.wire.openai_chat.encoding import ChatStreamEncoder as StreamEncoder
from llmcore.wire.openai_chat.encoding import decode_chat_messages as decode_messages
from llmcore.wire.openai_chat.encoding import encode_chat as encode
from llmcore.wire.openai_chat.logs import RepairedReply, RepairedRow, repair_row
from llmcore.wire.openai_chat.rewriting import ChatStreamRewriter as StreamRewriter
from llmcore.wire.openai_chat.rewriting import rewrite_chat as rewrite

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
