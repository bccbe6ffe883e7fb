"""The dialects: rows and their writers, a family a module, and the registry that knows them all.

How a body is read is no matter of this room (`bodies`, `bare`); what an opener is, what follows it and how a call is written is.
"""
