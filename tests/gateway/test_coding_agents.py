"""Requests in the form of coding agents, which a refused field or tool would stop.

They are written by hand after the public formats: every kind of block and tool that such agents send is in them.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.support import BY_NAME, gateway, streamed, whole
from tests.helpers.wire_server import Raw, Seen, WireServer

MODES = pytest.mark.parametrize("mode", ["pass_through", "orchestrated"])
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
CACHED = {"type": "ephemeral"}
READ = {
    "type": "object",
    "properties": {"file_path": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["file_path"],
    "additionalProperties": False,
    "$schema": "http://json-schema.org/draft-07/schema#",
}
CALL = '<tool_call>{"name": "Read", "arguments": {"file_path": "/tmp/a.py"}}</tool_call>'
MESSAGES_REQUEST: dict[str, Any] = {
    "model": "m",
    "max_tokens": 32_000,
    "stream": True,
    "temperature": 1,
    "metadata": {"user_id": "user_0_account__session_0"},
    "thinking": {"type": "enabled", "budget_tokens": 31_999},
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    "system": [
        {"type": "text", "text": "You are a coding agent.", "cache_control": CACHED},
        {"type": "text", "text": "The working directory is /tmp.", "cache_control": CACHED},
    ],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "<system-reminder>Today is Monday.</system-reminder>"}]},
        {
            "role": "assistant",
            "content": [
                {
                    "type": "thinking",
                    "thinking": "I read the file.",
                    "signature": "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk",
                },
                {"type": "text", "text": "I look."},
                {
                    "type": "tool_use",
                    "id": "toolu_01A09q90qw90lq917835lq9a",
                    "name": "Read",
                    "input": {"file_path": "/tmp/b.png"},
                },
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_01A09q90qw90lq917835lq9a",
                    "is_error": False,
                    "content": [
                        {"type": "text", "text": "A picture."},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
                    ],
                },
                {"type": "text", "text": "Now read /tmp/a.py.", "cache_control": CACHED},
            ],
        },
    ],
    "tools": [
        {"name": "Read", "description": "Reads a file.", "input_schema": READ, "cache_control": CACHED},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 8},
    ],
}
MESSAGES_HEADERS = {
    "x-api-key": "key-of-the-agent",
    "anthropic-version": "2023-06-01",
    "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14",
    "x-stainless-lang": "js",
    "x-app": "cli",
    "anthropic-dangerous-direct-browser-access": "true",
}
RESPONSES_REQUEST: dict[str, Any] = {
    "model": "m",
    "instructions": "You are a coding agent.",
    "stream": True,
    "store": False,
    "parallel_tool_calls": False,
    "tool_choice": "auto",
    "include": ["reasoning.encrypted_content"],
    "prompt_cache_key": "0199-0000",
    "reasoning": {"effort": "medium", "summary": "auto"},
    "text": {"verbosity": "low"},
    "input": [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Read /tmp/a.py."}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": None, "encrypted_content": "gAAAA"},
        {"type": "function_call", "id": "fc_1", "name": "Read", "arguments": '{"file_path":"/tmp/b"}', "call_id": "call_1"},
        {"type": "function_call_output", "call_id": "call_1", "output": "no such file"},
        {"type": "custom_tool_call", "id": "ctc_1", "name": "apply_patch", "input": "*** Begin Patch", "call_id": "call_2"},
        {"type": "custom_tool_call_output", "call_id": "call_2", "output": "done"},
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "See this."},
                {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"},
            ],
        },
    ],
    "tools": [
        {"type": "function", "name": "Read", "description": "Reads a file.", "strict": False, "parameters": READ},
        {
            "type": "custom",
            "name": "apply_patch",
            "description": "Applies a patch.",
            "format": {"type": "grammar", "syntax": "lark", "definition": 'start: "x"'},
        },
        {"type": "web_search", "external_web_access": False},
        {"type": "local_shell"},
    ],
}


def served(mode: str, wire: str, settings: dict[str, Any] | None = None) -> tuple[WireServer, dict[str, Any]]:
    """A model's server that speaks the wire, and the settings of a gateway in the mode."""
    name = wire if mode == "pass_through" else "openai-chat"

    def answer(seen: Seen) -> Raw:
        reply = streamed if seen.streaming else whole
        return reply(BY_NAME[name], f"I read it. {CALL}")

    return WireServer(answer), {"keys": {"agent": "key-of-the-agent"}, "default": {"mode": mode}, **(settings or {})}


@MODES
def test_an_agent_on_anthropics_wire(mode: str) -> None:
    upstream, settings = served(mode, "anthropic")
    with upstream as server, gateway(f"{server.root}/v1", settings) as client:
        assert client.head("/").status_code == 200
        count = {key: MESSAGES_REQUEST[key] for key in ("model", "messages", "system", "tools")}
        if mode == "orchestrated":
            counted = client.post("/v1/messages/count_tokens?beta=true", json=count, headers=MESSAGES_HEADERS)
            assert counted.json()["input_tokens"] > 50
        answer = client.post("/v1/messages?beta=true", json=MESSAGES_REQUEST, headers=MESSAGES_HEADERS)
    assert answer.status_code == 200, answer.text
    found = BY_NAME["anthropic"].read_events(_events(answer.content))
    assert (found.calls, found.text.strip()) == ([("Read", {"file_path": "/tmp/a.py"})], "I read it.")
    assert b'"input_tokens": 0' not in answer.content.split(b"\n\n")[0]
    assert "web_search_20250305" in answer.headers["x-llmcore-dropped"]
    sent = server.requests[-1]
    if mode == "pass_through":
        assert sent.body == {**MESSAGES_REQUEST, "model": "served-model", "tools": MESSAGES_REQUEST["tools"][:1]}
        assert sent.headers["anthropic-beta"] == MESSAGES_HEADERS["anthropic-beta"]
    else:
        roles = [message["role"] for message in sent.body["messages"]]
        assert roles[0] == "system"
        assert "tool" in roles
        assert [tool["function"]["name"] for tool in sent.body["tools"]] == ["Read"]
        assert PIXEL in str(sent.body)
    assert "key-of-the-agent" not in str(sent.headers)


@MODES
def test_an_agent_on_the_responses_wire(mode: str) -> None:
    upstream, settings = served(mode, "openai-responses")
    with upstream as server, gateway(f"{server.root}/v1", settings) as client:
        answer = client.post("/v1/responses", json=RESPONSES_REQUEST, headers={"authorization": "Bearer key-of-the-agent"})
    assert answer.status_code == 200, answer.text
    found = BY_NAME["openai-responses"].read_events(_events(answer.content))
    assert (found.calls, found.text.strip()) == ([("Read", {"file_path": "/tmp/a.py"})], "I read it.")
    dropped = answer.headers["x-llmcore-dropped"].split(", ")
    assert dropped[:2] == ["web_search", "local_shell"]
    sent = server.requests[-1].body
    if mode == "pass_through":
        assert sent == {**RESPONSES_REQUEST, "model": "served-model", "tools": RESPONSES_REQUEST["tools"][:2]}
    else:
        assert [tool["function"]["name"] for tool in sent["tools"]] == ["Read", "apply_patch"]
        assert "no such file" in str(sent["messages"])
        assert dropped[2:] == ["prompt_cache_key"]


def _events(data: bytes) -> list[dict[str, Any]]:
    from tests.gateway.support import events_of

    return [event for event in events_of(data) if event.get("type") != "ping"]
