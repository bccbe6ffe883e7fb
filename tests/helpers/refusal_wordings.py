"""Twenty-five ways in which a server may say that it takes no tools or no response format.

They were written before anybody who wrote them had looked at the words that the library knows, and are not to be
fitted to those: what they prove is that a run ends well whatever the words are. Do not add any of them to a list of the
library in order to see a test pass.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

__all__ = ["WORDINGS", "Wording"]

Refused = Literal["tools", "response_format"]


class Wording(NamedTuple):
    """What is refused whenever a request holds it, and the answer's status and body."""

    refused: Refused
    status: int
    body: Any


def _openai(words: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": words, "type": "invalid_request_error", "param": None, "code": None, **more}}


WORDINGS: tuple[Wording, ...] = (
    # Tools, plainly and less plainly.
    Wording("tools", 400, _openai("this model does not support tools")),
    Wording("tools", 400, _openai("Sorry, functions can't be used with the selected checkpoint.")),
    Wording("tools", 422, {"detail": "Tool use is switched off for this deployment."}),
    Wording("tools", 400, {"error": "calling tools is something only our larger models do"}),
    Wording(
        "tools", 422, {"detail": [{"loc": ["body", "tools"], "msg": "Extra inputs are not permitted", "type": "extra_forbidden"}]}
    ),
    Wording("tools", 400, {"message": "template has no slot for tool declarations", "code": 400}),
    Wording("tools", 400, _openai("Bad Request")),
    Wording("tools", 400, _openai("Something in your payload is not to our liking.", code="E1047")),
    Wording("tools", 422, {"errors": [{"field": "tools", "reason": "field is read-only here"}]}),
    Wording(
        "tools", 400, _openai("To let the model pick a tool by itself the operator must start the engine with a tool parser.")
    ),
    Wording("tools", 400, {"error": {"message": "Werkzeugaufrufe werden von diesem Modell nicht angeboten."}}),
    Wording("tools", 400, ""),
    Wording("tools", 422, "<html><body><h1>422 Unprocessable Entity</h1></body></html>"),
    Wording("tools", 400, _openai("Plugin invocation is a premium capability.")),
    # A response format, of any kind or one of them.
    Wording("response_format", 400, _openai("response_format unsupported")),
    Wording("response_format", 400, _openai("We only speak free text, please drop the structured answer option.")),
    Wording("response_format", 422, {"detail": "Guided decoding backend missing"}),
    Wording("response_format", 400, {"error": "grammar sampling was compiled out of this build"}),
    Wording("response_format", 400, _openai("Value 'json_schema' is not one of: 'text'", param="response_format.type")),
    Wording("response_format", 422, {"message": "constrained output: not for this engine"}),
    Wording("response_format", 400, _openai("Unknown field in request: 'response_format'.")),
    Wording("response_format", 400, _openai("JSON answers are not on the menu.")),
    Wording("response_format", 422, {"detail": [{"loc": ["body"], "msg": "Value error, validation of the request failed"}]}),
    Wording("response_format", 400, _openai("Cannot honor the requested shape of the reply.")),
    Wording(
        "response_format",
        400,
        {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Request contains an invalid argument."}},
    ),
)
