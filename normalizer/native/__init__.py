"""Native wires: one module a provider protocol, from its JSON to calls, content and reasoning.

`wires` tells a body's wire by its shape, the wire's reader turns it into `pieces`, `turn` puts these together; from
there on nothing knows the wire. Whole bodies and stream events take the same path."""
