"""No key that an exception tells stands in what is saved of a run, wherever the exception came from."""

from __future__ import annotations
