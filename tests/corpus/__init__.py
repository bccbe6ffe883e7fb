"""The corpus of replies in `fixtures/dialects`: what writes it, and its tests (docs/corpus.md)."""
