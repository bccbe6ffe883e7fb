"""From a value to a call: which object is a call, and which types untyped text has by the tool's schema.

The modules here map values to call objects. They search no text and wait for none.
"""
