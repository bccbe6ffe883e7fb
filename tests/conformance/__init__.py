"""The fixtures of `canitoolcall`, a public suite for parsers of tool calls, replayed through llmcore (docs/conformance.md)."""
