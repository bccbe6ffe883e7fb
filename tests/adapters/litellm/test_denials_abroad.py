"""Plain denials of tools and images in other languages than English, by what people call them; not of one of them, and not what
holds on a condition."""

from __future__ import annotations

# ruff: noqa: RUF001 - the punctuation is that of the languages
import pytest

from llmcore.types import CapabilityRefused
from tests.adapters.conftest import call_of
from tests.adapters.litellm.test_refusals import ENDPOINT, meaning, with_image

TOOLS = [
    "Nous ne prenons pas en charge l'appel d'outils sur ce point d'accès.",
    "Les outils ne sont pas pris en charge par ce modèle.",
    "このモデルではツール呼び出しは利用できません。",
    "ツールはサポートされていません",
    "Araçlar desteklenmiyor",
    "Narzędzia nie są obsługiwane przez ten model",
    "Ten model nie obsługuje wywołań narzędzi.",
    "도구는 지원되지 않습니다",
    "이 모델은 도구 호출을 지원하지 않습니다",
    "الأدوات غير مدعومة",
    "هذا النموذج لا يدعم استدعاء الأدوات",
    "该模型不支持工具调用",
    "工具调用在此部署不可用",
    "Dieses Modell unterstützt keine Werkzeuge.",
    "Werkzeuge werden nicht unterstützt.",
    "Las herramientas no están disponibles en este modelo",
    "Este modelo no admite llamadas a herramientas",
    "Este modelo não suporta ferramentas",
    "Ferramentas não são suportadas",
    "Questo modello non supporta gli strumenti",
    "Gli strumenti non sono supportati con questo modello",
    "Эта модель не поддерживает вызов инструментов",
    "Инструменты не поддерживаются",
    "Bu model araç çağrılarını desteklemiyor",
]
OF_OTHER_THINGS = [
    "Les outils ne sont pas pris en charge avec le streaming",
    "Werkzeuge werden nicht mit Bildern unterstützt",
    "Die Beschreibung des Werkzeugs get_weather ist nicht erlaubt",
    "工具名称不支持中文",
    "ツール名に日本語は使用できません",
    "도구 이름은 지원되지 않습니다",
    "Narzędzie get_weather nie jest obsługiwane",
    "L'outil get_weather n'est pas pris en charge",
    "Инструменты не поддерживаются вместе с изображениями",
    "Los nombres de las herramientas no admiten espacios",
    "工具不支持与图片一起使用",
    "ツールは画像と一緒に使用できません",
    "도구는 이미지와 함께 지원되지 않습니다",
]
IMAGES = [
    "Attachments are not supported.",
    "This deployment does not accept media.",
    "Visual input is disabled",
    "vision is not available on this tier",
    "Multimodality is not supported",
    "multimodal messages are not allowed here",
    "we cannot view drawings",
    "Photos are not accepted",
    "Screenshots cannot be read",
    "media attachments are not supported by this model",
    "Görseller desteklenmiyor",
    "Obrazy nie są obsługiwane",
    "الصور غير مدعومة",
    "Изображения не поддерживаются",
    "Les images ne sont pas prises en charge",
]
OF_ONE_IMAGE = [
    "Unsupported media type",
    "unsupported media type image/webp",
    "The attachments are too large",
    "Attachments of type gif are not supported",
    "media larger than 5 MB is not supported",
    "Could not download media",
]


@pytest.mark.parametrize("words", TOOLS)
def test_tools_are_denied(words: str) -> None:
    refused = meaning(words, call_of(ENDPOINT))
    assert isinstance(refused, CapabilityRefused)
    assert refused.capability == "native_tools"


@pytest.mark.parametrize("words", OF_OTHER_THINGS)
def test_what_is_said_of_one_tool_or_on_a_condition_denies_no_tools(words: str) -> None:
    assert not isinstance(meaning(words, call_of(ENDPOINT)), CapabilityRefused)


@pytest.mark.parametrize("words", IMAGES)
def test_images_are_denied_by_whatever_noun(words: str) -> None:
    refused = meaning(words, call_of(ENDPOINT, with_image("see")))
    assert isinstance(refused, CapabilityRefused)
    assert refused.capability == "images"


@pytest.mark.parametrize("words", OF_ONE_IMAGE)
def test_what_is_wrong_with_one_image_denies_none(words: str) -> None:
    assert not isinstance(meaning(words, call_of(ENDPOINT, with_image("see"))), CapabilityRefused)
