"""Values brought into the shape that a schema asks for, each step recorded: conversions, aliases, and the last rung for one call.

What a coercion may do is decided by the strictness; whether the result fits is asked of the schema. Where a value stands in a
text is no matter of this room (`output`), nor which tool it is for (`report`).
"""
