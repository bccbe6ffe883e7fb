"""Stands in for `llama_cpp`: the interface of `Llama` that the local adapter uses, with replies that a test gives."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

__all__ = ["Llama"]

PROMPT_TOKENS = 5


class Llama:
    """Answers with `replies`, one token a chunk. `requests` has what was asked. The token `"WAIT"` waits for `go`."""

    replies: list[list[str]]
    requests: list[dict[str, Any]]
    threads: set[str]
    go: threading.Event
    ended: threading.Event
    """Set when a generation ends, whole or not."""
    made: int
    """The tokens that the last generation made."""

    def __init__(self, model_path: str, *, n_ctx: int, n_threads: int, n_threads_batch: int, verbose: bool) -> None:
        assert model_path.endswith("SmolLM2-135M-Instruct.Q4_1.gguf")
        assert (n_ctx, verbose) == (0, False)
        self.n_tokens = 0

    def close(self) -> None: ...

    def create_chat_completion(self, **request: Any) -> Iterator[dict[str, Any]]:
        self.requests.append(request)
        self.threads.add(threading.current_thread().name)
        return self._chunks(self.replies.pop(0), request)

    def _chunks(self, tokens: list[str], request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if tokens == ["TOO LONG"]:
            raise ValueError("Requested tokens (9000) exceed context window of 8192")
        type(self).made = 0
        try:
            for number, token in enumerate(tokens):
                if token == "WAIT":
                    self.go.wait(30)
                self.n_tokens = PROMPT_TOKENS + number  # the newest token is not in the context yet
                type(self).made += 1
                if number == 0:
                    yield _chunk(request, {"role": "assistant"})
                yield _chunk(request, {"content": token})
            yield _chunk(request, {}, "stop")
        finally:
            self.ended.set()


def _chunk(request: dict[str, Any], delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return {"id": "chatcmpl-1", "model": request["model"], "object": "chat.completion.chunk", "choices": [choice]}
