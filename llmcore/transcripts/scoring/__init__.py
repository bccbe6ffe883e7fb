"""Turns transcripts into figures: a reply's envelope, its expectation, the verdict, and the counts by family and dialect.

Nothing here opens a file or prints. `formats` knows the file formats.
"""
