"""From files to transcripts: JSON Lines, VCR cassettes, JSON and plain text, recorded streams, and the requests in them.

What cannot be read is named by file and line. Nothing here normalises a reply, judges one or counts: `scoring` does.
"""
