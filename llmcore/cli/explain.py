"""`llmcore explain`: what a kind of repair, a reason of a near miss or a class of errors means."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from llmcore.cli.output import as_json_text, exit_with_error, write

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from llmcore.cli.explaining.codes import Explanation

__all__ = ["explain_command"]

_KINDS = {"repair": "a kind of repair", "near_miss": "a reason of near misses", "error": "a class of errors"}


def _codes_that_begin(incomplete: str) -> list[str]:
    from llmcore.cli.explaining.codes import all_explanations

    return sorted({each.code for each in all_explanations() if each.code.casefold().startswith(incomplete.casefold())})


def explain_command(
    code: Annotated[
        str | None,
        typer.Argument(
            help="Such as trailing_comma, quoted or RateLimited. Without it, every code is listed.",
            metavar="CODE",
            autocompletion=_codes_that_begin,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the explanations as JSON.")] = False,
) -> None:
    """Explain a code of an envelope, a result or an error: what it means, why, an example, and how to switch it off.

    Codes are the kinds of repairs, the reasons of near misses and the classes of errors.

    Exit code 0; 2: there is no such code.
    """
    from llmcore.cli.explaining.codes import all_explanations, explanations_of
    from llmcore.support.code.suggestions import nearest

    found = all_explanations() if code is None else explanations_of(code)
    if code is not None and not found:
        near = nearest(code.partition(":")[0], sorted({each.code for each in all_explanations()}))
        exit_with_error(f"there is no code {code!r}; {f'did you mean {near!r}?' if near else '`llmcore explain` lists them'}")
    if as_json:
        write(as_json_text([asdict(each) for each in found], indent=2))
    elif code is None:
        _list(found)
    else:
        write("\n\n".join("\n".join(_lines(each)) for each in found))


def _lines(one: Explanation) -> Iterator[str]:
    yield f"{one.code}: {_KINDS[one.kind]}"
    for title, text in (("What it is", one.what), ("Why", one.why), ("Before", one.before), ("After", one.after)):
        yield from ("", title, *(f"  {line}" for line in text.strip("\n").splitlines()))
    yield from ("", "How to switch it off", f"  {one.off}")


def _list(found: Sequence[Explanation]) -> None:
    from llmcore.cli.tables import plain, report_table

    table = report_table(("code", "is", "meaning"), left={"code", "is", "meaning"})
    for each in found:
        table.add_row(plain(each.code), plain(each.kind.replace("_", " ")), plain(each.what.partition(". ")[0]))
    write(table)
