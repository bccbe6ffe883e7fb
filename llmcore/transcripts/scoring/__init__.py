"""From transcripts to figures: a reply's envelope, what was expected of it, the verdict, and the counts by family and dialect.

No file is opened here and nothing is printed; how a recording was written down is no matter of this room (`formats`).
"""
