"""Recording: lines of a transcript file, from an adapter's calls (`recorder`) or from a proxy on the wire (`proxy`).

Nothing is read from a recording here (`llmcore.transcripts` does that), and no secret is written.
"""
