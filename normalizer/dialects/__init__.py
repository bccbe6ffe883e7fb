"""The dialects: rows and their writers, a family a module, and the registry that knows them all.

What an opener is, what follows it, how a call is written, and who reads it. A reader that one family alone needs stands beside
its rows, to be read with them; what could read another family's bodies as well stands in `bodies`, which knows no row.
"""
