"""Recording: writes lines of a transcript file, from an adapter's calls (`recorder`) or from a proxy (`proxy`).

`llmcore.transcripts` reads recordings. No secret is written.
"""
