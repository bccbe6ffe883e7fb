"""`python -m llmcore`, for where the console script is not on the path."""

from llmcore.cli import main

main()
