"""Reads files into transcripts: JSON Lines, VCR cassettes, JSON and plain text, recorded streams, and their requests.

Errors name the file and line of what cannot be read. Only `scoring` normalises, judges and counts replies.
"""
