"""The events of a run for its reader: as a stream, step by step, or as JSON."""
