"""Native wires: one module per provider protocol, from its JSON to calls, content and reasoning.

`wires` recognises a body's wire by its shape. The wire's reader turns the body into `wire_pieces`, and `turn` assembles these.
The code after that knows no wire. Whole bodies and stream events take the same path.
"""
