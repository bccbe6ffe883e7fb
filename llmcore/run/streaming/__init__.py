"""The events of a run for whoever reads them: as a stream, step by step, or as JSON."""
