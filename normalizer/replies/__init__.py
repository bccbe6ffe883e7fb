"""One envelope from text, bodies and events: what a reply says, whichever way it came.

Here calls are numbered, native and text calls are merged, and an envelope's parts are put together. Nothing here reads text by
itself: the text engine does, and the wires do.
"""
