"""Reading images, files and audio in the forms of other APIs. One row of `FORMS` is one type of part."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass

from llmcore.support.values.media_kinds import IMAGE, MediaKind, split_data_url
from llmcore.support.values.narrowing import object_in
from llmcore.types.errors import CallerError
from llmcore.types.input.given_fields import MAX_SHOWN, PART_FIELDS, Dict, check_names
from llmcore.types.messages import AudioBlock, FileBlock, ImageBlock, MediaBlock

__all__ = ["FORMS", "bare_image", "media_block", "media_form"]


@dataclass(frozen=True, slots=True)
class MediaForm:
    """One type of part. `inner`: the field whose object, or text, has the media; "" if the part itself has it.

    `names`: the fields of a `block` by the names that they have here. Names without a field are read and not kept.
    """

    block: type[MediaBlock]
    inner: str
    names: Mapping[str, str]


_URL = {"url": "url", "detail": "detail", "format": "media_type"}
_FILE = {"file_data": "url", "file_url": "url", "file_id": "file_id", "filename": "name", "format": "media_type"}
_SOURCE = {"type": "", "url": "url", "data": "data", "media_type": "media_type"}
FORMS: Mapping[str, MediaForm] = {
    "image_url": MediaForm(ImageBlock, "image_url", _URL),
    "input_image": MediaForm(ImageBlock, "image_url", _URL),
    "image": MediaForm(ImageBlock, "source", _SOURCE),
    "file": MediaForm(FileBlock, "file", _FILE),
    "input_file": MediaForm(FileBlock, "", _FILE),
    "document": MediaForm(FileBlock, "source", {**_SOURCE, "title": "name"}),
    "input_audio": MediaForm(AudioBlock, "input_audio", {"url": "url", "data": "data", "format": "media_type"}),
    "audio_url": MediaForm(AudioBlock, "audio_url", {"url": "url", "format": "media_type"}),
}
"""The forms of OpenAI's two APIs, of Anthropic (`image`, `document`) and of vLLM (`audio_url`), by the type of the part."""
_OUTER_NAMES = {"detail": "detail", "title": "name"}
"""Fields that may stand beside the inner object."""


def media_form(kind: str, fields: Dict) -> MediaForm | None:
    """The form of a part of this type; None for a part without media, and for a document that only Anthropic has."""
    form = FORMS.get(kind)
    if form is None or (form.inner in ("source", "file") and form.inner not in fields):
        return None  # a block of llmcore's own
    source = object_in(fields.get("source"))
    is_others = form.inner == "source" and (source.get("type") not in ("url", "base64") or fields.get("citations"))
    return None if is_others or fields.get("context") else form


def media_block(form: MediaForm, fields: Dict, where: str) -> MediaBlock:
    """The block of a part. `where` names the message in errors. Raises `CallerError`."""
    kind = form.block.kind
    beside = {name: ours for name, ours in _OUTER_NAMES.items() if ours in form.block.model_fields} if form.inner else form.names
    given = fields.get(form.inner, {})
    inner = {next(iter(form.names)): given} if isinstance(given, str) else object_in(given)
    check_names(fields, {form.inner, *beside, *PART_FIELDS} - {""}, f"a part of {where} (type {fields['type']!r})")
    thing = f"{kind.noun} of {where}"
    check_names(inner, form.names, f"the `source` of {thing}" if form.inner == "source" else thing)
    found = {
        ours: value
        for names, values in ((beside, fields), (form.names, inner))
        for name, ours in names.items()
        if ours and isinstance(value := values.get(name), str) and value
    }
    if (file_id := found.pop("file_id", None)) is not None and "url" not in found:
        if "://" not in file_id:
            fix = "give the file's data, or a URL"
            raise CallerError(f"{where} holds a file by the id {file_id[:MAX_SHOWN]!r}, which only one provider knows; {fix}")
        found["url"] = file_id  # as LiteLLM has it
    if "data" not in found:
        found |= _located(found.pop("url", None), kind, where)
    if "/" not in found.get("media_type", "/"):
        found["media_type"] = f"{kind.type}/{found['media_type']}"  # `wav`
    if "data" in found and "media_type" not in found:
        recognised = kind.recognised(found["data"])
        if recognised is None:
            raise CallerError(f"{where} holds {kind.noun} in no known format ({kind.formats}); give its media type")
        found["media_type"] = recognised
    cache = {"cache_control": fields["cache_control"]} if fields.get("cache_control") else {}
    return form.block.model_validate({**found, **cache})


def _located(url: object, kind: MediaKind, where: str) -> dict[str, str]:
    """The `url`, or the `data` and `media_type` of a data URL."""
    if not isinstance(url, str) or not url:
        raise CallerError(f"{where} holds {kind.noun} without a `url` and without data")
    if not url.startswith("data:"):
        return {"url": url} if kind is IMAGE or "://" in url[:MAX_SHOWN] else {"data": url}
    found = split_data_url(url)
    if found is None:
        example = next(iter(kind.signatures))
        raise CallerError(f"{where} holds {kind.noun} whose data URL is not of the form data:{example};base64,...")
    return {"media_type": found[0], "data": found[1]}


def bare_image(given: object, where: str) -> MediaBlock:
    """An image of Ollama's messages: base64, bytes, or a URL. Raises `CallerError`."""
    if isinstance(given, Mapping):
        fields: Dict = {"type": "image_url", **given}
        return bare_image(fields["value"], where) if "value" in fields else media_block(FORMS["image_url"], fields, where)
    text = b64encode(given).decode() if isinstance(given, bytes) else given
    if isinstance(text, str) and ("://" in text[:MAX_SHOWN] or text.startswith("data:")):
        return ImageBlock.model_validate(_located(text, IMAGE, where))
    media = IMAGE.recognised(text) if isinstance(text, str) else None
    if media is None:
        fix = "give base64 of a PNG, JPEG, GIF, WebP or BMP, its bytes, or a URL; llmcore reads no files"
        raise CallerError(f"{where} has in `images` what is no image; {fix}")
    return ImageBlock(data=str(text), media_type=media)
