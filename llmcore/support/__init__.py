"""Helpers that know no type of the library."""
