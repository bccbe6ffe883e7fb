"""The native wires."""
