"""A plugin of pytest: rows by CONTRIBUTING's recipe, in alphabets that no row has, added before the registry is made."""

from __future__ import annotations

from llmcore.normalizer.scanning import words

words.OWN_SIGNS += "⟦@"

from llmcore.normalizer.dialects import json_wrapped  # noqa: E402 # its expressions read the signs

__all__ = ["NEW_ROWS"]

NEW_ROWS = {
    "nova_brackets": ("[[nova:call]]", "[[/nova:call]]"),
    "nova_angles": ("<<CALL>>\n", "\n<<END>>\n"),
    "nova_signs": ("⟦call⟧", "⟦/call⟧"),
    "nova_ats": ("@@call@@", "@@end@@"),
}

json_wrapped.DIALECTS += tuple(
    json_wrapped._row(  # pyright: ignore[reportPrivateUsage] # as a row of the module
        name,
        "Nova Tiny",
        (opener.strip(),),
        json_wrapped._object(opener, closer),  # pyright: ignore[reportPrivateUsage]
        closers=(closer.strip(),),
    )
    for name, (opener, closer) in NEW_ROWS.items()
)
