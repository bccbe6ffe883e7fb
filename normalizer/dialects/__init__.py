"""The dialects: one module per family, with rows, readers and writers, and the registry of all rows.

A row says what its opener is, what follows it, how a call is written, and who reads it. A reader that only one family needs
stands beside its rows. A reader that several families could use stands in `bodies`, which knows no row.
"""
