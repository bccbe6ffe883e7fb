"""Compares the outgoing body with the request: removes settings that LiteLLM added, and records what LiteLLM left out.

For wire formats other than OpenAI's, LiteLLM translates the request by rules that change with each version. It sets a
temperature for one family, omits `parallel_tool_calls` for another, and turns a budget into a word. These rules cannot be
listed. So the body is read before it is sent: a setting without an argument is removed, and an argument without a trace is
recorded as not sent. A signed body is not changed. On OpenAI's own wire format, LiteLLM sends what it receives.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from llmcore.adapters.base import ModelCall, urls_of_environment
from llmcore.adapters.request.conversation.media import media_url_error
from llmcore.adapters.request.conversation.unsendable import blocks_of, cache_marks
from llmcore.adapters.request.parameters import Prepared, is_elsewhere, is_own_host
from llmcore.support.values.json_data import as_json, read_object
from llmcore.support.values.narrowing import is_list, is_object, object_in, objects_in, texts_in
from llmcore.types import (
    Block,
    ConfigError,
    MediaBlock,
    ProviderBlock,
    RedactedThinkingBlock,
    RequestRefused,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
)
from llmcore.types.refusals import RefusalFacts

__all__ = ["Outgoing", "repeated_refusal"]

_THINKING = frozenset({"thinking", "reasoning_effort"})
_MAX_TOKENS = frozenset({"max_tokens", "max_completion_tokens"})
_ACCOUNTED: Mapping[str, frozenset[str]] = {
    "temperature": frozenset({"temperature"}),
    **dict.fromkeys(("topp", "p"), frozenset({"top_p"})),  # Cohere's
    "topk": frozenset({"top_k"}),
    "seed": frozenset({"seed"}),
    "presencepenalty": frozenset({"presence_penalty"}),
    "frequencypenalty": frozenset({"frequency_penalty"}),
    **dict.fromkeys(("stop", "stopsequences"), frozenset({"stop"})),
    **dict.fromkeys(("maxtokens", "maxoutputtokens", "numpredict"), _MAX_TOKENS),
    **dict.fromkeys(("thinking", "thinkingconfig", "think"), _THINKING),
}
"""The arguments that explain a setting, by its name in lower case without `_`, which is the same in every wire format."""
_SETTINGS = ("generationConfig", "options", "inferenceConfig", "additionalModelRequestFields")
"""Fields of a body that hold settings, beside the body itself."""
_NO_PARALLEL_MARK = b'"disable_parallel_tool_use"'
_CHOICES = (b'"tool_choice"', b'"toolChoice"', b'unctionCallingConfig"', b'"function_calling_config"')
"""The names of the tool choice in wire formats."""
_STREAM_PARAMETER_WIRES = ("openai-chat", "anthropic", "ollama")
"""Wire formats with a parameter for streams. The others use another path."""
_STREAMED = re.compile(rb'(?<!\\)"stream" ?: ?true')
_CACHE_MARKS = (b'"cache_control"', b'"cachePoint"')
_ENVIRONMENT_HEADERS = {b"openai-organization", b"openai-project"}
_PORTS = {"http": 80, "https": 443}
_COMPARED_LENGTH = 200
"""How many characters of media or of a signature are searched in the body."""
_EARLIER_REASONING = "reasoning of an earlier turn"
_EARLIER_SEARCH = "web search of an earlier turn"
_EARLIER = (_EARLIER_REASONING, _EARLIER_SEARCH)
_OWN_PARTS = {
    "reasoning": _EARLIER_REASONING,
    **dict.fromkeys(("web_search_call", "server_tool_use", "web_search_tool_result"), _EARLIER_SEARCH),
}
"""Parts that only one provider has, by type."""
_SOURCES = ("annotations", "citations", "search_results", "groundingMetadata", "citationMetadata", "urlContextMetadata")
"""Fields in which providers send sources. Only Claude's `citations` are sent back."""
_REASONING_FIELDS = frozenset(
    {"reasoning_details", "provider_specific_fields", "thinking_blocks", "thoughtSignature", "thought_signature", "extra_content"}
)
_MIN_LENGTH = 8  # characters


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _server(url: str) -> str:
    """Scheme, host and port."""
    parts = urlsplit(url)
    with suppress(ValueError):  # an invalid port
        return f"{parts.scheme}://{parts.hostname}:{parts.port or _PORTS.get(parts.scheme)}"
    return url


def _variables_naming(url: str) -> str:
    """The environment variables that name this server, in parentheses."""
    server = _server(url)
    found = [name for name, value in os.environ.items() if "://" in value and _server(value) == server]
    return f" ({', '.join(found)})" if found else ""


def repeated_refusal(words: str) -> RequestRefused:
    """Return the error of a request that equals one refused before, with the message of that refusal."""
    message = f"in this mode the request equals one that was refused before, so it is not sent again: {words}"
    return RequestRefused(message, facts=RefusalFacts(kind="unsent"))


class Outgoing:
    """Rewrites the bodies of one call. `outgoing_body` may be called several times; the last body counts."""

    def __init__(self, call: ModelCall, prepared: Prepared) -> None:
        self._call = call
        self._prepared = prepared
        self._last_sent: tuple[str, bytes] | None = None

    @property
    def digest(self) -> str:
        """A digest of the last body and its URL. Empty if none was sent."""
        if self._last_sent is None:
            return ""
        url, body = self._last_sent
        return sha256(url.encode("utf-8", "surrogatepass") + b"\n" + body).hexdigest()

    def headers(self, headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Return the headers to send.

        A server that is not the provider's own receives nothing from the environment. OpenAI's client reads an organization
        and a project there, and LiteLLM may sign in for a token. The names are dropped, and the endpoint's key replaces the
        token.
        """
        endpoint, provider = self._call.endpoint, self._prepared.provider
        if not is_elsewhere(endpoint, provider):
            return [*headers]
        given = {**endpoint.extra_headers, **(self._call.request.extra_headers or {})}
        own = {name.lower().encode() for name in given}
        left = [header for header in headers if header[0].lower() not in _ENVIRONMENT_HEADERS - own]
        if provider.sends_token and endpoint.api_key is not None and b"authorization" not in own:
            left = [header for header in left if header[0].lower() != b"authorization"]
            left.append((b"authorization", f"Bearer {endpoint.api_key.get_secret_value()}".encode()))
        return left

    def check_fetch(self, url: str) -> None:
        """Raises `CallerError` if LiteLLM is about to fetch media of the request in order to send its data."""
        for block in blocks_of(self._call):  # the host may already be resolved
            if isinstance(block, MediaBlock) and block.url and urlsplit(block.url)[2:4] == urlsplit(url)[2:4]:
                raise media_url_error(block, self._prepared.provider.name)

    def outgoing_body(self, url: str, body: bytes, *, signed: bool) -> bytes:
        """Return the body to send, and record what of the request is missing in it.

        Raises `RequestRefused` if the same request was refused before in this run. Raises `ConfigError` if it would go to
        another server than `base_url`: for some providers LiteLLM knows one place only, and for others environment variables
        redirect it.
        """
        prepared, asked = self._prepared, self._call.endpoint.base_url
        named = map(_server, urls_of_environment(self._call.endpoint.provider))
        if asked is None and prepared.provider.hosts and not is_own_host(url, prepared.provider) and _server(url) not in named:
            raise ConfigError(
                f"{prepared.provider.name}: the environment{_variables_naming(url)} would send this to {_server(url)}, so "
                "nothing was sent; give that server as `base_url`, with its `api_key`"
            )
        if asked is not None and _server(asked) != _server(url):
            raise ConfigError(
                f"{prepared.provider.name}: LiteLLM would send this to {_server(url)} and not to the base_url, so nothing was "
                "sent; leave base_url out, or name the provider whose wire that server speaks (`openai_compatible`, say)"
            )
        body = self._final_body(body, signed=signed)
        self._last_sent = (url, body)
        if self._call.refused and (words := self._call.refused.get(self.digest)):
            raise repeated_refusal(words)
        return body

    def _final_body(self, body: bytes, *, signed: bool) -> bytes:
        """The body to send. Records what of the request is missing in it."""
        prepared = self._prepared
        missing = [*self._lost_marks(body), *self._lost_media(body), *self._lost_reasoning(body), *self._lost_parts(body)]
        if self._is_cost_refused and not signed:
            body = _without_usage(body)
        if prepared.provider.wire != "openai-chat":
            try:
                document: object = json.loads(body)
            except (ValueError, RecursionError):
                return body
            if is_object(document):
                missing += self._lost_settings(document, body)
                if not signed and self._remove_unrequested(document):
                    body = as_json(document).encode("utf-8", "surrogatepass")
        if self._call.streamed and prepared.provider.wire in _STREAM_PARAMETER_WIRES and not _STREAMED.search(body):
            missing.append("streaming")
        if self._strict_tools and b'"strict"' not in body:
            missing.append("strict")
        for name in dict.fromkeys(missing):
            if name in prepared.dropped:
                continue
            if name in _EARLIER:  # most wire formats lose this in each turn, so there is no warning
                prepared.dropped.append(name)
            else:
                prepared.drop(name)
        return body

    # Too much

    @property
    def _is_cost_refused(self) -> bool:
        """Whether the endpoint refuses the `usage` that LiteLLM adds, and the caller did not set it."""
        prepared = self._prepared
        refused = prepared.provider.reports_cost and "usage" in prepared.known.unsupported_parameters
        return refused and "usage" not in self._call.request.extra_body

    def _remove_unrequested(self, document: dict[str, Any]) -> bool:
        """Remove settings that nobody requested, and add `extra_body` unchanged. Returns whether the document changed."""
        given, asked = self._call.request.extra_body, self._prepared.arguments.keys()
        changed = False
        for settings in _places(document):
            for name in list(settings):
                accounts = _ACCOUNTED.get(_plain(name))
                if accounts is not None and accounts.isdisjoint(asked) and name not in given:
                    del settings[name]
                    changed = True
        for holder, name in [
            *((document, name) for name in _SETTINGS),
            *((turn, "images") for turn in objects_in(document.get("messages"))),
        ]:
            if name in holder and not holder[name] and name not in given:
                del holder[name]  # LiteLLM adds them empty
                changed = True
        own = self._prepared.own_body
        document |= own
        marked = self._mark_strict(document)
        return self._put_back_citations(document) or marked or changed or bool(own)

    def _put_back_citations(self, document: dict[str, Any]) -> bool:
        """Add the `citations` that LiteLLM removes from Claude's earlier turns. Returns whether there were any."""
        if self._prepared.provider.wire != "anthropic":
            return False
        turns = (turn for turn in self._prepared.arguments.get("messages", ()) if turn.get("role") == "assistant")
        cited = [part for turn in turns for part in objects_in(turn.get("content")) if "citations" in part]
        sent = (turn for turn in objects_in(document.get("messages")) if turn.get("role") == "assistant")
        is_any = bool(cited)
        for part in (part for turn in sent for part in objects_in(turn.get("content"))):
            if cited and str(part.get("text", "")).strip() == cited[0]["text"].strip():
                part["citations"] = cited.pop(0)["citations"]
        return is_any

    def _mark_strict(self, document: dict[str, Any]) -> bool:
        """Add the `strict` that LiteLLM removes from tools on Anthropic's wire format. Returns whether there was any."""
        if self._prepared.provider.wire != "anthropic" or not self._strict_tools:
            return False
        for tool in filter(is_object, document.get("tools") or ()):
            if tool.get("name") in self._strict_tools:
                tool["strict"] = True
        return True

    @property
    def _strict_tools(self) -> set[str]:
        """The names, as sent, of the strict tools."""
        functions = (object_in(tool.get("function")) for tool in self._prepared.arguments.get("tools", ()))
        return {function["name"] for function in functions if function.get("strict")}

    # Too little

    def _lost_settings(self, document: dict[str, Any], body: bytes) -> Iterator[str]:
        arguments = self._prepared.arguments
        found = {name: value for settings in _places(document) for name, value in settings.items()}
        sent = {argument for name in found for argument in _ACCOUNTED.get(_plain(name), ())}
        if "output_config" in found and "effort" in object_in(found["output_config"]):
            sent |= _THINKING
        for name in ("temperature", "top_p", "stop", "thinking", "reasoning_effort"):
            if name in arguments and name not in sent:
                yield name
        if arguments.get("tool_choice", "none") != "none" and not any(name in body for name in _CHOICES):
            yield "tool_choice"
        if arguments.get("parallel_tool_calls") is False and _NO_PARALLEL_MARK not in body:
            yield "parallel_tool_calls"
        budget = object_in(arguments.get("thinking")).get("budget_tokens")
        exactly = self._call.request.thinking is not True
        if budget is not None and exactly and not sent.isdisjoint(_THINKING) and budget not in _numbers(found.values()):
            yield "thinking budget"

    def _lost_marks(self, body: bytes) -> Iterator[str]:
        asked = sum(mark is not None for mark in cache_marks(self._call))
        if asked and sum(map(body.count, _CACHE_MARKS)) < asked:
            yield "cache_control"

    def _lost_media(self, body: bytes) -> Iterator[str]:
        for block in blocks_of(self._call):
            if isinstance(block, MediaBlock) and (block.base64 or block.url or "")[:_COMPARED_LENGTH].encode() not in body:
                yield block.kind.part

    def _lost_reasoning(self, body: bytes) -> Iterator[str]:
        """Reasoning of earlier turns that is missing in the body.

        All signed reasoning must be present, at least its signature. Of unsigned reasoning, a part suffices: its words, or
        `reasoning_details`.
        """
        for message in self._call.request.messages:
            thoughts = [block for block in message.content if isinstance(block, ThinkingBlock | RedactedThinkingBlock)]
            proofs = [block.data if isinstance(block, RedactedThinkingBlock) else block.signature or "" for block in thoughts]
            signed = [proof for proof in proofs if proof]
            if any(not _is_in(body, proof) for proof in signed):
                yield _EARLIER_REASONING
            texts = [block.thinking for block in thoughts if isinstance(block, ThinkingBlock) and block.thinking.strip()]
            beside = [text for block in message.content if isinstance(block, ProviderBlock) for text in _thoughts_in(block.data)]
            if texts and not signed and not any(self._is_returned(body, text) for text in (*texts, *beside)):
                yield _EARLIER_REASONING

    def _is_returned(self, body: bytes, text: str) -> bool:
        """Whether the text occurs in the body more often than in other parts of the request."""
        head = text[:_COMPARED_LENGTH]
        texts = [words for block in blocks_of(self._call) for words in _texts_of(block)]
        system = self._call.request.system
        return _times_in(body, head) > sum(words.count(head) for words in (*texts, system if isinstance(system, str) else ""))

    def _lost_parts(self, body: bytes) -> Iterator[str]:
        """Reasoning, searches and sources in provider-specific parts that are missing in the body."""
        for block in blocks_of(self._call):
            data = block.data if isinstance(block, ProviderBlock) else {}
            lost = _OWN_PARTS.get(str(data.get("type", "")))
            proofs = [data.get(name) for name in ("encrypted_content", "id", "tool_use_id")]
            if lost is not None and not any(isinstance(proof, str) and proof and _is_in(body, proof) for proof in proofs):
                yield lost
            if any(data.get(name) for name in _SOURCES) and not self._returns_citations(block):
                yield _EARLIER_SEARCH

    def _returns_citations(self, block: Block) -> bool:
        is_claudes = isinstance(block, ProviderBlock) and block.provider == self._prepared.provider.wire == "anthropic"
        return is_claudes and self._call.mode == "native_tools"


def _is_in(body: bytes, text: str) -> bool:
    return _times_in(body, text[:_COMPARED_LENGTH]) > 0


def _times_in(body: bytes, text: str) -> int:
    """How often the text occurs in a JSON body, whether or not non-ASCII characters are escaped."""
    written = (json.dumps(text, ensure_ascii=escaped)[1:-1] for escaped in (True, False))
    return max(body.count(form.encode("utf-8", "surrogatepass")) for form in written)


def _texts_of(block: Block) -> Iterator[str]:
    if isinstance(block, TextBlock):
        yield block.text
    elif isinstance(block, ToolUseBlock):
        yield from texts_in(block.input)


def _thoughts_in(data: dict[str, Any]) -> Iterator[str]:
    """The reasoning in a provider-specific part. Sources and citations do not count, since they repeat words of the answer."""
    if data.get("type") == "reasoning":
        yield from _strings(data)
    for name in _REASONING_FIELDS & data.keys():
        yield from _strings(data[name])


def _strings(value: object) -> Iterator[str]:
    """The strings in a value that are long enough to identify it."""
    if isinstance(value, str) and len(value) >= _MIN_LENGTH:
        yield value
    parts = value.values() if is_object(value) else value if is_list(value) else ()
    for part in parts:
        yield from _strings(part)


def _without_usage(body: bytes) -> bytes:
    document = read_object(body)
    if document is None or document.pop("usage", None) is None:
        return body
    return as_json(document).encode("utf-8", "surrogatepass")


def _places(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The objects of a body that hold settings."""
    yield document
    for name in _SETTINGS:
        if is_object(inner := document.get(name)):
            yield inner


def _numbers(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if is_object(value):
            yield from _numbers(value.values())
        elif isinstance(value, int):
            yield value
