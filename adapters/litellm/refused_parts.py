"""Sentences in which servers say that they do not take a part of a request: tools, a tool choice, a response format, or one value
of these.

The part stands before or behind a word that denies it, and between the two nothing that makes another thing of it ("tool names
with dots are not supported"). What holds on a condition only ("with images") is not said of the endpoint; where it holds ("with
this model") is no condition. Every repetition is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from llmcore.adapters.litellm.denials_abroad import NOUNS_ABROAD, denied_abroad
from llmcore.adapters.litellm.refused_parameters import EXTRA
from llmcore.types.late import late

__all__ = ["CONDITION", "PART_NAMES", "images_refused", "parts_named", "parts_refused", "refused_together", "search_refused"]


def _any(words: str) -> str:
    """A pattern for each of some words."""
    return "|".join(words.split())


_PLACES = _any("models? servers? endpoints? deployments? engines? apis? versions? providers? backends? routes? hosts? builds?")
_ITS = _any("the this that your our any current selected chosen api")
_HERE = rf"(?: (?:with|in|for|on|by|at|when using)(?: (?:{_ITS})){{0,3}} (?:{_PLACES})\b)"
"""Where something is not supported: that is no condition."""
CONDITION = rf"(?!(?!{_HERE}) (?:with|without|when|while|together|alongside|beside|in|if|unless|yet in)\b)"
_QUOTE = r"['\"`\u201c\u201d\u2018\u2019]"

_PARTS = (
    ("parallel_tool_calls", r"parallel[ _-](?:tool|function)[ _-]?(?:calls?|calling|use)"),
    (
        "tool_choice",
        r"(?:named |forced |required )?tool[ _-]?choices?|tool_?config\.tool_?choice(?:\.(?:any|tool|auto))?"
        r"|(?:function|tool)[ _-]?calling(?:[ _-]?config)?(?:\.mode| mode)?:? ['\"`]?(?:any|required)"
        r"|forc(?:ed|ing) (?:an? |the )?(?:named |specific |particular )?(?:function|tool)s?(?:[ _-]?(?:calls?|calling|use))?",
    ),
    (
        "response_format",
        r"(?:response|output)[ _-]?formats?(?:\.type)?|output_config|structured[ _-]outputs?|controlled[ _-]generation"
        r"|json[ _-]?(?:mode|schemas?|objects?)(?: with (?:an? )?(?:json )?schemas?)?"
        r"|(?:guided|(?:schema[ _-]|grammar[ _-]|json[ _-])?(?:constrained|guided|enforced))"
        r"[ _-](?:decoding|generation|sampling)",
    ),
    (
        "tools",
        r"(?:tool|function)[ _-](?:calls|calling|use|usage|types|definitions?|declarations?)|(?<![\w-])(?:tools|functions)"
        r"|(?<!this )(?<!the )(?<!a )function[ _-]call",
    ),
    ("system_message", r"system_message"),
)
"""What servers call the parts of a request that another output mode does without, by the parameter that each is."""
_NOT = r"(?:not|\w{0,5}n['\u2019]t|never|cannot|no longer)(?: (?:yet|currently|be|been|an?|one of|the|able to)){0,3}"
_TAKEN = _any(
    "supported enabled available allowed permitted implemented accepted recogni[sz]ed offered possible valid used active provided"
)
_TAKE = _any(
    "use support accept allow take implement provide offer recogni[sz]e understand handle produce process generate define know"
)
_DENIED = (
    rf"(?:{_NOT} (?:{_TAKEN}|(?:rolled|switched|turned) (?:out|on))|(?:turned|switched) off|not ?implemented"
    rf"|{_any('unsupported unavailable disabled deactivated forbidden')}"
    rf"|{EXTRA}"
    r"|(?:unexpected|unknown|unrecogni[sz]ed|unsupported) (?:keyword |request )?"
    r"(?:arguments?|fields?|parameters?|keys?|property|properties|inputs?)"
    r")\b"
)
_DENYING = (
    rf"(?!unsupported json schema)(?:{_NOT} (?:{_TAKE})(?:ed|ing)?"
    r"|(?:cannot|can['\u2019]?t|(?:not |un)able to) (?:call|use)"
    r"|(?:unknown|unexpected|unrecogni[sz]ed) (?:request )?"
    r"(?:parameters?|arguments?|fields?|names?|keys?|property|properties|keywords?|inputs?)"
    r"|unsupported|(?:no|without|lacks?) support for"
    r"|(?:released|shipped|built|launched|loaded|started|deployed|served) without|(?:has|have|there (?:is|are)|knows?) no"
    r"|(?:none of|no) [^.;,\n]{0,60} (?:can|supports?|offers?|handles?|accepts?)(?: (?:support|handle|use|accept|take))?)\b"
)
_FILLERS = _any(
    "the an? any all this that your its? is are was were has have been be being set to as of for types? values? parameters? "
    "params? arguments? args? fields? keys? keywords? options? features? inputs? property properties modes? use usage support "
    "requests? functionality capability capabilities blocks? branch "
    "named called supplied provided given current currently yet native openai "
    "true false required auto none function text json_schema json_object"
)
_PARTICULAR = "|".join(part for name, part in _PARTS if name in ("parallel_tool_calls", "tool_choice"))
_STAND_IN = "_particular_"
"""What stands for the name of a particular part where a more general one is looked for, whose name may be a piece of it."""
PART_NAMES = "|".join((*(part for _, part in _PARTS), _STAND_IN))
"""Whatever servers call any of them."""
_LISTING = r"(?:/|, ?| (?:or|and|nor) )"
_LISTED = rf"\b(?:{PART_NAMES}){_LISTING}|{_LISTING}{_QUOTE}?(?:{PART_NAMES})\b"
_BETWEEN = (
    rf"(?:{_HERE}|{_LISTED}|\b(?:output|replies|responses?) (?:with|in)\b|\bin (?:the )?(?:object|body|payload|request)\b"
    rf"|[\s=:,(){{}}\[\]]|{_QUOTE}|\b(?:{_FILLERS})\b){{0,16}}"
)
"""What may stand between a part and the word that denies it, other parts that are denied with it among them."""
_OF_THE_PART = r"(?! *(?:keywords?|features?|types?|propert|constructs?|drafts?|names?|schemas?|definitions?:))"

_WRONG = r"\b(?:invalid|illegal|bad) (?:request )?(?:parameter|argument|field|key|property|option)s?"
_ENDS = rf"(?=\s*(?:$|[.;,!)\]}}\n])|{_HERE})"
"""Where a sentence has nothing more to say: an invalid parameter that goes on ("must be a list") has a wrong value."""
_LEAVE_OUT = r"\b(?:drop|remove|omit|unset|leave (?:out|off)|(?:again|retry|resend|repeat|request) without)"
_AND_ASK = r"(?: (?:from|in|of) (?:the|your|this) (?:request|body|payload|call))?"
_THEN = rf"(?:{_ENDS}|(?= and (?:try|retry|call|send|resend|repeat|ask)\b))"
_LEAVES = late(
    rf"{_LEAVE_OUT}{_BETWEEN}\b(?:(?P<parallel_tool_calls>{dict(_PARTS)['parallel_tool_calls']})"
    rf"|(?P<tool_choice>{dict(_PARTS)['tool_choice']})|(?P<tools>{dict(_PARTS)['tools']})"
    rf"|(?P<response_format>{dict(_PARTS)['response_format']})|(?P<system_message>system_message))\b{_QUOTE}?"
    rf"(?: (?:parameter|param|argument|field|key|option|setting|list|array|property)s?)?{_AND_ASK}{_THEN}"
)
_OF_SOME = late(
    r"\b(?:when|while|if|unless|either|too (?:many|large|long|big|deep)|exceeds?|at most|maximum|limit|duplicate|same name"
    r"|some|unused|invalid)\b"
)
"""Words by which only some of a part, or only on a condition, is to be left out."""

_VALUES = r"(?:auto|none|text|json_object|json_schema)\b"
_ONE_VALUE = rf"{_QUOTE}?{_VALUES}{_QUOTE}?"
_ONLY = (
    r"(?:(?:invalid|bad|wrong|illegal) (?:value|type|option|mode)s?"
    r"|only (?:supports?|accepts?|allows?|takes?)|(?:supports?|accepts?|allows?|takes?) only)\b"
)
_MUST_BE = (
    r"(?:(?:must|may|should|can|has to|needs to) (?:only )?be(?: one of| set to| either| only)?:? ?[(\[]?"
    rf"|only ){_ONE_VALUE}"
)
_SENT = rf"(?:the value )?{_QUOTE}?\b(?:required|json_schema|json_object)\b"
_ABSENT = r"(?![^;\n]{0,80}(?:not found|no such|does not exist|unknown tool|not in ))"
"""What the caller named and did not give is no value that the server does not know."""


def _sentence(parameter: str, part: str) -> re.Pattern[str]:
    abroad = denied_abroad(f"{part}|{NOUNS_ABROAD[parameter]}" if parameter in NOUNS_ABROAD else part)
    part = rf"(?:{part})\b"
    whole = rf"{part}(?![\[.]\w)" if parameter == "tools" else part  # what is within one tool is not said of tools
    forms = [
        rf"{part}(?! (?:that|which)\b){_BETWEEN}{_DENIED}{CONDITION}",
        rf"{_DENYING}{_BETWEEN}\b{whole}{_OF_THE_PART}{CONDITION}",
        rf"{_WRONG}:? ?{_QUOTE}?{part}{_QUOTE}?{_ENDS}",
        *abroad,
    ]
    if parameter in _OF_VALUES.values():
        forms += [
            rf"{part}{_BETWEEN}(?:does |do |can )?{_NOT} (?:{_TAKE}) {_SENT}",
            rf"(?:invalid|bad|wrong|illegal){_BETWEEN}\b{part}{_BETWEEN}{_SENT}{_ABSENT}",
            rf"{part}{_BETWEEN}invalid (?:enum |literal )?(?:value|option|type|input)?\b\.?{_BETWEEN}expected {_ONE_VALUE}",
            rf"expected {_ONE_VALUE}(?: (?:or|and) {_ONE_VALUE})?{_BETWEEN}\b{part}",
            rf"only (?:the )?{part}{_BETWEEN}{_ONE_VALUE}",
            rf"{_ONLY}{_BETWEEN}\b{part}{CONDITION}{_ABSENT}",
            rf"{part}{_BETWEEN}{_MUST_BE}",
            rf"{part}{_BETWEEN}must be (?:equal to )?one of the (?:allowed|valid|supported|permitted) (?:values|options)",
            rf"{part}: input should be {_ONE_VALUE}",
            rf"{part}: input tag [^;\n]{{0,80}}expected tags:? {_ONE_VALUE}(?:, {_ONE_VALUE}){{0,3}}(?![,'\"`\w])",
            rf"only {_ONE_VALUE}(?: (?:or|and) {_ONE_VALUE})?{_BETWEEN}(?:\b(?:{_TAKEN})\b{_BETWEEN})?\b{part}",
        ]
    return re.compile("|".join(forms))


_OF_VALUES = {"json_schema": "response_format", "json_object": "response_format", "required": "tool_choice"}
"""Values that only one parameter of ours has."""
_ANY_VALUE = "|".join(_OF_VALUES)
_VALUE = late(
    rf"(?:invalid|unsupported|unknown|unexpected|bad) (?:enum )?(?:value|option|type|variant)"
    rf"(?: for (?:the )?(?:(?:enum|field|parameter|property|key) ){{0,3}}[\w.]{{1,40}})?:? ?{_QUOTE}?({_ANY_VALUE})\b"
    rf"|{_QUOTE}({_ANY_VALUE}){_QUOTE}(?: is| are)? "
    r"(?:not (?:one of|among|(?:an? )?(?:valid|supported|allowed)|permitted)|invalid|unsupported)\b"
)
_SEARCH_WORDS = (
    r"(?:hosted tool )?\W?(?:web|google)[ _-]?search\w*|search[ _]grounding|grounding(?: with google search)?|web plugins?"
)
_SEARCH = late(
    rf"\b(?:{_SEARCH_WORDS})\b{_BETWEEN}{_DENIED}|(?:{_DENYING}|unknown) ?(?:tool )?{_BETWEEN}\b(?:{_SEARCH_WORDS})\b"
    rf"|input tag {_QUOTE}(?:{_SEARCH_WORDS})|\b(?:{_SEARCH_WORDS})(?:\.[\w.]{{1,64}})?: extra"
)
"""Sentences by which the provider's own search of the web is not taken; what it is beside does not matter, for it is left out."""


def search_refused(text: str) -> bool:
    """Does the text (lower case) say that the web is not searched by the provider?"""
    return _SEARCH.search(text) is not None


_NEVER = late(rf"{_NOT}\b|incompatible|unsupported|\beither\b|mutually exclusive")
_BESIDE = (
    r"(?:(?:(?:together|combined|conjunction|combination|concert|compatible|along) )?with|alongside|beside|while using|when using"
    r"|when|at the same time as)"
)
_AT_ONCE = late(r"\b(?:together|both|same request|simultaneous|at once|at the same time|mutually exclusive|combin)")


def _beside(one: str, between: str, other: str) -> str:
    gap = rf"[^.;\n]{{0,60}}\b{between} {_QUOTE}?(?:the |an? |any )?{_QUOTE}?"
    return rf"\b(?:{one})\b{gap}(?:{other})\b(?! (?:param|arg|defin|input))"


_FORMAT, _TOOLS = dict(_PARTS)["response_format"], rf"{dict(_PARTS)['tools']}|tool(?!-)"
_TOGETHER, _AND = (
    late(f"{_beside(_FORMAT, between, _TOOLS)}|{_beside(_TOOLS, between, _FORMAT)}") for between in (_BESIDE, "(?:and|nor|or)")
)
"""A format and tools in one sentence, one beside the other, or both of them."""


def refused_together(text: str) -> bool:
    """Does the text (lower case) say that a response format and tools are not taken in one request?"""
    return any(
        _NEVER.search(part) and (_TOGETHER.search(part) or (_AND.search(part) and _AT_ONCE.search(part)))
        for part in re.split(r"[.;\n]", text)
    )


_IMAGE = (
    r"(?:(?:input_?)?image(?:_url|s)?(?:[ _-](?:inputs?|content|parts?|blocks?|modality|understanding|support|types?)){0,3}"
    r"|vision(?: inputs?)?|multi-?modal(?:ity| (?:inputs?|content|messages?|requests?|data))"
    r"|visual(?:s| (?:inputs?|content|data|media))|pictures|photos|photographs|drawings|screenshots"
    r"|(?:(?:image|photo|picture|media|visual)[ _-])?attachments"
    r"|media(?![ _-]types?)(?: (?:inputs?|content|parts?|blocks?|files|messages))?)"
)
_IMAGE_ABROAD = NOUNS_ABROAD["images"]
_IMAGES = late(
    rf"\b{_IMAGE}\b{_BETWEEN}{_DENIED}{CONDITION}|{_DENYING}{_BETWEEN}\b{_IMAGE}\b|\bat most 0 image"
    rf"|\b(?:is text[ -]only|only (?:supports?|accepts?|takes?) text|unknown variant {_QUOTE}?image)"
    rf"|{_NOT} have (?:any )?{_IMAGE}"
    r"|\bmissing data required for image|\bcontent['\"`]?:? (?:must|should) be a (?:valid )?string"
    rf"|{'|'.join(denied_abroad(f'{_IMAGE}|{_IMAGE_ABROAD}'))}"
)
_ANY_IMAGES = (
    r"(?<!the )(?<!your )(?<!these )(?<!those )(?<!some )(?<!of )(?<!input )\b(?:images|pictures|photos|photographs|drawings"
    r"|screenshots|visuals|attachments|media(?![ _-]types?)"
    r"|(?:image(?:_url)?|picture|photo|vision)[ _-](?:inputs|parts|blocks|items|messages|uploads))\b(?!\W?\d)"
)
"""Images in general: what is said of `the image` is of one."""
_CANNOT = (
    r"(?:cannot|can['\u2019]?t|can not|(?:is|are|do|does|will) not|(?:is|are|do|does)n['\u2019]t|won['\u2019]t"
    r"|(?:un|not )able to|never)"
)
_SEEN = r"(?:read|seen|viewed|processed|handled|understood|looked at|parsed|taken|welcome|(?:a|our) thing|an option)"
_SEE = r"(?:look at|see|view|read|process|handle|understand|interpret|parse|do|(?:work|deal) with)"
_PART_TYPE = r"(?:message|content|input|chunk|part|block|item|element|type)"
_OF_SIGHT = r"(?:images?|vision|visual|multi-?modal)"
_IS_BLIND = late(
    rf"{_ANY_IMAGES}{_BETWEEN}{_CANNOT} (?:be )?{_SEEN}\b|\b{_CANNOT} {_SEE} (?:any )?{_ANY_IMAGES}"
    rf"|(?:\bnot|n['\u2019]t) (?:an? )?(?:multi-?modal{_ENDS}"
    rf"|(?:multi-?modal|vision)(?:[ -](?:capable|enabled|language))?(?: (?:{_PLACES}|llm)\b))"
    rf"|\btext[ -]only (?:language )?(?:{_PLACES}|llm)\b"
    rf"|\b(?:no|without an?|(?:lacks|has no|misses) (?:an? )?) ?{_OF_SIGHT}[ -]"
    r"(?:(?:pre-?)?processors?|encoders?|towers?|projectors?|adapters?|heads?|capabilit(?:y|ies))\b"
    rf"|\b(?:unsupported|unknown|unexpected|unrecogni[sz]ed)(?: {_PART_TYPE}){{1,3}}s?:? {_QUOTE}?(?:input_)?image(?:_url)?"
    rf"(?![\w/])|\btype:? {_QUOTE}?(?:input_)?image(?:_url)?{_QUOTE}?"
    r" (?:is|was) (?:unknown|unexpected|unrecogni[sz]ed|not (?:known|expected))\b"
)
"""Other words by which a model sees no images: it cannot look at them, is made for text alone, lacks what reads them, or their
parts of a message are unknown."""
_OF_ONE_IMAGE = late(
    r"\b(?:upload\w*|your image|this image|image (?:data|file)|exceeds?|maximum|identify|\d+ ?[km]b"
    r"|formats?|media[ _-]?types?|mime\w*|base64|sizes?|large|small|pixels?|resolution|dimensions?|download\w*|fetch\w*"
    r"|corrupt\w*|decod\w+|invalid|animated|gif|webp|svg|tiff|bmp|heic|expired|scheme|url|uri|too many|more than"
    r"|could(?: not|n['\u2019]t) \w+)\b"
)
"""Words about what is wrong with one image: another one may be taken."""
_ONE_IMAGE = late(r"\b(?:image|picture|photo|photograph|drawing|screenshot)\b")


def is_of_one_image(text: str) -> bool:
    """Does the text (lower case) say what is wrong with one image?"""
    return any(_ONE_IMAGE.search(part) and _OF_ONE_IMAGE.search(part) for part in re.split(r"[;\n]|(?<=[.\u3002])\s*", text))


def images_refused(text: str) -> bool:
    """Does the text (lower case) say that images are not taken?"""
    return any(
        (_IMAGES.search(part) or _IS_BLIND.search(part)) and not _OF_ONE_IMAGE.search(part)
        for part in re.split(r"[;\n]|(?<=[.\u3002])\s*", text)
    )


_NAMED = tuple((name, late(rf"(?:{part})\b|{NOUNS_ABROAD.get(name, '(?!)')}")) for name, part in _PARTS)


def parts_named(text: str) -> set[str]:
    """The parameters that the text (lower case) names, whatever it says of them."""
    named = {parameter for parameter, part in _NAMED if part.search(text)}
    return named - {"tools"} if "parallel_tool_calls" in named else named


_PARTICULAR_NAMES = late(rf"(?<![\w-])(?:{_PARTICULAR})(?![\w-])")


@cache
def _sentences() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each parameter's, made when the first refusal comes: they take a fifth of a second."""
    return tuple((parameter, _sentence(parameter, part)) for parameter, part in _PARTS)


def parts_refused(text: str) -> Iterator[str]:
    """The parameters of which the text (lower case) says that they, or a value of theirs, are not taken; the particular first."""
    general = _PARTICULAR_NAMES.sub(_STAND_IN, text)
    yield from (name for name, sentence in _sentences() if sentence.search(general if name == "tools" else text))
    if (found := _LEAVES.search(text)) and not _OF_SOME.search(text):
        yield found.lastgroup or ""
    if found := _VALUE.search(text):
        yield _OF_VALUES[found[1] or found[2]]
