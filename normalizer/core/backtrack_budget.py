"""What looks that came to nothing cost: the one ledger that keeps the work linear.

A look-ahead that fails is paid for in characters of text. The walk goes on looking when the text has caught up with the account;
brackets have an account of their own, so that text full of brackets loses no call that has a marker.
"""

from __future__ import annotations

__all__ = ["BacktrackBudget"]

_FAILURE = 48  # what a failed look-ahead costs beside its length, in characters: a little more than it takes microseconds
_GLANCE = 24  # what a candidate costs that was told from a call by what stands right behind it
_LEFT_OPEN = 8  # so many values may be left open at the text's end before no further one is followed there


class BacktrackBudget:
    """`spent`: on markers, in characters. `on_brackets`: on bare forms, in characters. `left_open`: values that were followed to
    the text's end and never closed."""

    __slots__ = ("left_open", "on_brackets", "spent")

    def __init__(self) -> None:
        self.spent = self.on_brackets = self.left_open = 0

    @property
    def total(self) -> int:
        """Both accounts, in characters."""
        return self.spent + self.on_brackets

    @property
    def too_many_left_open(self) -> bool:
        """Is it no use to follow a further value to its end?"""
        return self.left_open > _LEFT_OPEN

    def pay(self, characters: int) -> None:
        """So many characters were spent on a marker."""
        self.spent += characters

    def failed(self, characters: int = 0) -> None:
        """A look-ahead over so many characters came to nothing."""
        self.spent += characters + _FAILURE

    def glanced(self) -> None:
        """What stands at a candidate came to nothing by what is right behind it."""
        self.spent += _GLANCE

    def never_closed(self, times: int = 1) -> None:
        """A value was followed to the text's end."""
        self.left_open += times

    def charge_brackets(self, since: int) -> None:
        """What was spent since `spent` was `since` was spent on a bracket."""
        self.on_brackets += self.spent - since
        self.spent = since
