#!/bin/bash -eu
# Packs tests/fuzz/atheris_target.py with the installed library into $OUT, and random decisions as its first corpus.
# PyInstaller does not see what the library loads on first use, so all modules and data files are named.
python3 -m pip install --require-hashes --no-deps --only-binary :all: -r requirements.lock
python3 -m pip install --no-deps --no-build-isolation .

# The checkout's `llmcore` must not be found before the installed one: the layers stand beside it there.
work=$(mktemp -d)
cp -r tests "$work/tests"
cp tests/fuzz/atheris_target.py "$work/normalize_fuzzer.py"
cd "$work"
compile_python_fuzzer normalize_fuzzer.py --paths "$work" --hidden-import atheris --collect-all llmcore \
    --collect-submodules tests.fuzz --add-data "$work/tests/normalizer/samples:tests/normalizer/samples"

python3 -m tests.fuzz.atheris_target --seeds "$work/seeds"
(cd "$work/seeds" && zip -q "$OUT/normalize_fuzzer_seed_corpus.zip" ./*)
