"""Readers of call bodies: JSON, Python calls and markup.

A reader consumes and emits, asks for more text, or declines. It never raises on what a model wrote, and it remembers
how far it has searched.
"""
