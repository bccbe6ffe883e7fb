"""`BacktrackBudget`: the cost of failed look-aheads, which keeps the work linear.

A failed look-ahead costs characters of text. The walk searches again only when the text is longer than the cost so far.
Brackets have a separate account, so that text full of brackets loses no call that has a marker.
"""

from __future__ import annotations

__all__ = ["BacktrackBudget"]

_FAILURE = 48  # characters that a failed look-ahead costs beside its length: about its microseconds
_GLANCE = 24  # characters that a candidate costs if the text right behind it rules it out
_LEFT_OPEN = 8  # values that may be followed to the text's end without finding their closers


class BacktrackBudget:
    """`spent`: characters spent on markers. `on_brackets`: characters spent on bare forms.

    `left_open`: the number of values that were followed to the text's end and never closed.
    """

    __slots__ = ("left_open", "on_brackets", "spent")

    def __init__(self) -> None:
        self.spent = self.on_brackets = self.left_open = 0

    @property
    def total(self) -> int:
        """The sum of both accounts, in characters."""
        return self.spent + self.on_brackets

    @property
    def too_many_left_open(self) -> bool:
        """Whether no further value should be followed to its end."""
        return self.left_open > _LEFT_OPEN

    def pay(self, characters: int) -> None:
        """Charge `characters` to markers."""
        self.spent += characters

    def failed(self, characters: int = 0) -> None:
        """Charge for a look-ahead over `characters` characters that found nothing."""
        self.spent += characters + _FAILURE

    def glanced(self) -> None:
        """Charge for a candidate that the text right behind it ruled out."""
        self.spent += _GLANCE

    def never_closed(self, times: int = 1) -> None:
        """Count a value that was followed to the text's end."""
        self.left_open += times

    def charge_brackets(self, since: int) -> None:
        """Move what was spent since `spent` was `since` to the account of brackets."""
        self.on_brackets += self.spent - since
        self.spent = since
