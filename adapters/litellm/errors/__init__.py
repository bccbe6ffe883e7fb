"""Interprets the errors of servers and of LiteLLM.

`table` is the entry point: `classify` converts an exception to one of llmcore's errors. `exceptions` extracts the parts of
LiteLLM's exceptions. `reading` reads what the server says of the request, once, and stores it in `RefusalFacts`: first the
status and the code, then `param`, then the phrases in `phrases.toml`. `fields` marks the names that wire formats have for the
parts of a request. `quotations` and `named_tools` remove what a server repeats of the request.
"""
