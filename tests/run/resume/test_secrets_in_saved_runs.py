"""A saved run holds no key that an exception quotes, wherever the exception came from."""

from __future__ import annotations
