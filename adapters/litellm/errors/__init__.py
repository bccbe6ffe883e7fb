"""What the errors of servers and of LiteLLM mean.

`table` is the entry: `classify` makes one of llmcore's errors of an exception. `exceptions` takes an exception of LiteLLM apart.
`reading` reads what the server says of the request, once, and stores it in `RefusalFacts`. It reads the status and the code
first, then `param`, then the phrases of `phrases.toml`. `fields` marks the names by which wires call the parts of a request.
`quotations` and `named_tools` take out what a server repeats of the request.
"""
