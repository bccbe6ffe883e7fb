"""Stands in for the weights: the local adapter looks for a file of this package."""
