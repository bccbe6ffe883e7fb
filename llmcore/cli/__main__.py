"""`python -m llmcore.cli`, if the console script is not on the path."""

from llmcore.cli import main

main()
