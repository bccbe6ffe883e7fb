"""What `llmcore replay` writes beside its tables: an HTML page, JUnit XML, and a comparison with an earlier replay.

Each one is given every `Outcome` while the replay runs, and the figures at its end. None of them holds the replay in memory.
"""
