"""The replies that are timed: one call of a given size in every dialect, and plain texts. All written for this project."""

from __future__ import annotations

import json
import random
from typing import Any

from llmcore import ToolSet
from llmcore.normalizer.dialects.registry import DIALECTS

__all__ = [
    "BRACKETED",
    "MARKDOWN",
    "NAME",
    "PROSE",
    "TOOLS",
    "TOOL_DICTS",
    "arguments",
    "call",
    "chat_completion",
    "native_body",
    "sentence",
    "word",
]

NAME = "file_report"
TOOL_DICTS: list[dict[str, Any]] = [
    {
        "name": NAME,
        "description": "File a report about one device.",
        "parameters": {
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "device": {"type": "string"},
                "priority": {"type": "integer"},
                "urgent": {"type": "boolean"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "readings": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "minute": {"type": "integer"},
                            "bar": {"type": "number"},
                            "state": {"type": "string"},
                        },
                    },
                },
                "body": {"type": "string"},
            },
            "required": ["title", "device", "body"],
        },
    },
    {"name": "search_reports", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}},
    {"name": "close_report", "parameters": {"type": "object", "properties": {"id": {"type": "integer"}}}},
]
TOOLS = ToolSet(TOOL_DICTS)

_SENTENCES = (
    "The pump in hall two stopped twice during the night shift. ",
    "Its filter was changed in March; the pressure fell to 3.2 bar, well below what the sheet asks for. ",
    "Nobody was near it at the time, and the log of the controller shows no command. ",
    "We propose to swap the valve, then to watch it for 48 hours.\n",
    "Spare parts are on shelf B7 (two valves, one gasket). ",
)
_STATES = ("ok", "low", "high")


_SYLLABLES = ("ba", "den", "fi", "gor", "hal", "ka", "lin", "mo", "nar", "pel", "ri", "sto", "tu", "ver", "wi", "zan")


def word(draw: random.Random) -> str:
    """A word that no text had before, most likely."""
    return "".join(draw.choices(_SYLLABLES, k=4))


def sentence(draw: random.Random) -> str:
    """A sentence that announces a call, never seen before."""
    return f"I will file the report on {word(draw)} for the {word(draw)} pump P-{draw.randint(10, 9999)} right away."


def arguments(size: int, *, flat: bool = False, draw: random.Random | None = None) -> dict[str, Any]:
    """Arguments of about `size` characters: a few scalars, a list of small objects (a quarter of it), and prose for the rest.

    `flat`: a title and prose only, for readers that choke on the rest. `draw`: makes values that no call had before, with line
    breaks, quotation marks and `<` among them.
    """
    name, priority = ("P-14", 2) if draw is None else (word(draw), draw.randint(0, 9))
    if flat:
        return {"title": f"Pump {name} stops", "body": _prose(size - 50, draw)}
    body: dict[str, Any] = {
        "title": f"Pump {name} stops without a command",
        "device": f"hall2/pump-{name}",
        "priority": priority,
        "urgent": True,
        "tags": ["pump", "night shift", "valve"],
        "readings": [],
        "body": "",
    }
    rows = max(1, size // 200)
    body["readings"] = [{"minute": 5 * k, "bar": 3.2 + k % 7 + priority, "state": _STATES[k % 3]} for k in range(rows)]
    room = size - len(json.dumps(body))
    body["body"] = _prose(max(20, room), draw)
    return body


def _prose(length: int, draw: random.Random | None = None) -> str:
    if draw is None:
        return "".join(_SENTENCES[k % 5] for k in range(length // 40 + 1))[:length].strip()
    said, room = list[str](), length
    while room > 0:
        said.append(f'The "{word(draw)}" valve of {word(draw)} (x < {draw.randint(3, 99)} bar):\n- <b>{word(draw)}</b> is worn\n')
        said += draw.choices(_SENTENCES, k=4)
        room -= sum(map(len, said[-5:]))
    return "".join(said)[:length].strip()


def call(
    dialect: str, size: int, *, flat: bool = False, times: int = 1, draw: random.Random | None = None
) -> tuple[str, dict[str, Any]]:
    """(a call of about `size` characters, so many times, as the dialect writes it; its arguments)."""
    given = arguments(size, flat=flat, draw=draw)
    text = DIALECTS[dialect].write([(NAME, given)] * times)
    if dialect == "harmony":  # SGLang looks for the role as well; both read the same text
        text = "<|start|>assistant" + text
    return text, given


PROSE = (
    """A tide table is older than most clocks. Long before anyone could say why the sea rises twice a day, harbour masters wrote
down when it did, and the better ones noticed that the hour slips by some fifty minutes from one day to the next. That slip
is the moon's: it moves along its orbit while the earth turns beneath it, so the same quay needs a little more than a day to
come round to it again.

What the moon does in the open ocean is modest, half a metre at most. The drama comes from the shape of the coast. A bay
whose natural period is near twelve hours answers the pull as a swing answers a well-timed push, and the water at its head
may climb ten metres or more. Where two such waves meet from different sides, one can cancel the other, and there are ports
that have hardly any tide at all, or one a day instead of two.

To predict it, nobody solves the equations of the sea. One takes a year of readings and asks how much of each known rhythm
they contain: the moon's, the sun's, the changing distance of both, the tilt of the orbit. A few dozen of these, each with
its own size and delay, added up again for any date in the future, give the height to within a hand's breadth. It was done
with brass wheels and a pen for seventy years; the machines were guarded in wartime, because a landing needs low water at
dawn, and that happens on few days of a month.
"""
    * 4
)[:4096]

_MARKDOWN_SECTION = """## Reading the sensor

The driver is small: it opens the port, asks for *one* frame and checks its sum. See [the sheet](https://example.org/p14) for the
register map (pages 3-5), and mind that `0x1F` is reserved.

```python
def read_frame(port: Port, *, timeout: float = 0.5) -> Frame:
    raw = port.query(bytes([0x02, 0x1E]), timeout=timeout)
    if len(raw) < 6 or checksum(raw[:-1]) != raw[-1]:
        raise FrameError(f"bad frame: {raw.hex(' ')}")
    return Frame(pressure=int.from_bytes(raw[1:3], "big") / 10, state=State(raw[3]))
```

On the page it is shown like this:

```html
<table class="readings">
  <tr><th>minute</th><th>bar</th></tr>
  <tr><td>0</td><td>3.2</td></tr>
</table>
<p>Values below <b>3</b> are marked &lt;low&gt;.</p>
```

The service answers with JSON data:

```json
{"device": "hall2/pump-14", "readings": [{"minute": 0, "bar": 3.2, "state": "ok"}, {"minute": 5, "bar": 2.9, "state": "low"}],
 "limits": {"low": 3.0, "high": 9.5}, "serial": "A-1100-<rev 4>"}
```

| state | meaning | what to do |
|---|---|---|
| ok | within limits | nothing |
| low | below 3 bar | open the valve (slowly), then look again |

- [x] frame is read, sum is checked
- [ ] a value < 3 or > 9.5 raises an alarm
- [ ] `readings[-1]` is kept when the link drops (see above)

"""
MARKDOWN = _MARKDOWN_SECTION * 2


_BRACKETED_LINE = (
    "The range [a, b) is half open, so f(x) = {x | x < b}; see note [3] and the table (page 5). In C one writes a[i] = b[i - 1]; where "
    "i < n, and in prose {curly} words, <angle> words or 3 < 4 mean nothing. "
)
BRACKETED = (
    _BRACKETED_LINE + "That much is known of the sea and of its tides, and of the people who wrote them down by hand. " * 2
) * 12
BRACKETED = BRACKETED[:4096]
"""Prose with some 70 brackets, braces and angles that begin nothing."""


def chat_completion(content: str) -> dict[str, Any]:
    """A chat completion of OpenAI's shape whose content is this text."""
    body = native_body(10)
    body["choices"][0] |= {"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    return body


def native_body(size: int) -> dict[str, Any]:
    """A chat completion of OpenAI's shape with one native call of about `size` characters."""
    function = {"name": NAME, "arguments": json.dumps(arguments(size))}
    tool_call = {"id": "call_7Qb1", "type": "function", "function": function}
    return {
        "id": "chatcmpl-41",
        "object": "chat.completion",
        "created": 1760000000,
        "model": "any-model",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": None, "tool_calls": [tool_call]},
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 312, "completion_tokens": 268, "total_tokens": 580},
    }
