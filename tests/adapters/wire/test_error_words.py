"""A server's words are found in whatever shape the body of its error has."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from llmcore.adapters.wire.error_words import error_words

WORDS = "Tools are not taken here"

SHAPES: dict[str, Any] = {
    "openai": {"error": {"message": WORDS, "type": "invalid_request_error", "param": None, "code": None}},
    "vllm": {"object": "error", "message": WORDS, "type": "BadRequestError", "code": 400},
    "error": {"error": WORDS},
    "xai": {"code": "Client specified an invalid argument", "error": WORDS},
    "detail": {"detail": WORDS},
    "details": {"detail": [{"loc": ["body"], "msg": WORDS}]},
    "errors": {"errors": [{"message": WORDS}]},
    "texts": {"errors": [WORDS]},
    "list": [WORDS],
    "gemini": [{"error": {"code": 400, "message": WORDS, "status": "INVALID_ARGUMENT"}}],
    "msg": {"msg": WORDS},
    "reason": {"status": "fail", "reason": WORDS},
    "nested": {"error": {"error": {"message": WORDS}}},
    "object": {"message": {"text": WORDS}},
    "aws": {"Message": WORDS},
    "problem": {"title": "Bad Request", "status": 400, "detail": WORDS},
    "spring": {"timestamp": "x", "status": 400, "error": "Bad Request", "message": WORDS},
    "in a text": {"error": {"message": json.dumps({"error": {"message": WORDS}})}},
    "upstream": {"error": {"message": "Provider returned error", "metadata": {"raw": json.dumps({"message": WORDS})}}},
    "field": {"tools": [WORDS]},
    "unknown": {"whatever": {"it": WORDS}},
    "plain": WORDS,
    "page": f"<html><head><title>403</title><style>p {{ }}</style></head><body><p>{WORDS}</p><script>x()</script></body></html>",
    "cut": '{"error": {"message": "' + WORDS,
}


def body_of(shape: Any) -> bytes:
    return (shape if isinstance(shape, str) else json.dumps(shape)).encode()


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_words_are_found_in_any_shape(shape: Any) -> None:
    said = error_words(body_of(shape))
    assert WORDS in said.words
    assert WORDS in said.all_text
    assert "<" not in said.words


def test_what_an_entry_is_about_stands_before_its_words() -> None:
    said = error_words(
        body_of({"detail": [{"loc": ["body", "tools"], "msg": "Extra inputs are not permitted", "input": ["echo"]}]})
    )
    assert said.words == "body.tools: Extra inputs are not permitted"
    assert "echo" not in said.all_text


def test_the_error_object_is_found_and_a_cut_one_says_so() -> None:
    assert error_words(body_of(SHAPES["gemini"])).fault["status"] == "INVALID_ARGUMENT"
    assert not error_words(body_of(SHAPES["gemini"])).is_cut
    assert error_words(body_of(SHAPES["cut"])).is_cut
    assert error_words(b"plain").fault == {}


@pytest.mark.parametrize("body", [b"", b"  \n", b"{}", b"[]", b"<html></html>", b"\xef\xbb\xbf"])
def test_of_nothing_nothing_is_said(body: bytes) -> None:
    assert error_words(body).words == ""


@pytest.mark.parametrize("unit", [b"[", b'{"error":', b"<script", b"<title", b"<", b'{"a":"', b'["[', b'\\"', b"{'"])
def test_hostile_bodies_are_read_in_a_moment(unit: bytes) -> None:
    started = time.process_time()
    error_words(b"<html>" + unit * (32_768 // len(unit)))
    error_words(unit * (32_768 // len(unit)))
    assert time.process_time() - started < 1
