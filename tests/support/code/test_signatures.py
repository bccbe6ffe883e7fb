"""What a function takes, and functions that do not say it."""

from __future__ import annotations

from llmcore.support.code.signatures import misfit, signature_of


def takes_one(value: object) -> None: ...


def test_a_function_fits_the_arguments_that_it_takes() -> None:
    assert misfit(takes_one, 1) is None
    assert "too many positional arguments" in str(misfit(takes_one, 1, 2))


def test_a_function_without_a_readable_signature_fits() -> None:
    assert signature_of(dict) is None
    assert misfit(dict, 1, 2, 3) is None
