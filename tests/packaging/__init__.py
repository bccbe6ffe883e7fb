"""Tests of how the project is packaged, and of the rules of the house."""
