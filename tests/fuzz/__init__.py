"""Fuzzing of the normaliser: texts made of what dialects are made of, and the oracle that judges how they are read.

`random_mix` needs nothing installed; `atheris_target` is guided by coverage (`make fuzz`). docs/performance.md says how to run them.
What they find becomes a case under tests/normalizer/fuzz_cases/.
"""
