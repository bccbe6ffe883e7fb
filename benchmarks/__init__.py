"""Benchmarks: what the normaliser costs, beside SGLang's detectors and beside the floor. docs/performance.md says how to run them."""
