"""Explains an envelope (`envelopes`), and the codes of repairs, near misses and errors (`codes`, whose tables are TOML files)."""
