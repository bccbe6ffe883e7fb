"""One envelope from text, bodies and events.

The modules here number calls, merge native calls and calls in text, and assemble the envelope. The text engine and the wires
read the reply.
"""
