# What a contributor runs. Every target sets up .venv first; that is done once, and again only when the lock changes.
# `make replay` installs what running needs (requirements.lock), the others add what a contributor needs (requirements-dev.lock).
.DEFAULT_GOAL := help
.PHONY: help setup dev docs sbom api replay test sweep versions newest test-integrations live compiled test-compiled check bench bench-setup fuzz lock clean

VENV ?= .venv
BIN := $(VENV)/bin
UV ?= uv
COMPILE_LOCK := $(UV) pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --upgrade \
	--custom-compile-command "make lock" --quiet
FUZZ_SECONDS ?= 60
SAMPLE ?= 1
SEED ?= $(or $(shell git log -1 --format=%ct 2>/dev/null),0)
PYTEST := -m pytest --numprocesses=auto --dist=worksteal
# Bytecode is kept even where the machine says not to: without it, rewriting the tests' asserts takes longer than collecting them,
# and each process that a test starts compiles the library anew.
KEEP_BYTECODE := env -u PYTHONDONTWRITEBYTECODE
export PYTHON VENV

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Make or refresh .venv
	@scripts/setup

dev: setup ## Set up, and build the mirror that static tools and editors read
	@scripts/mirror

replay: ## Replay the recorded transcripts and print the success rates
	@scripts/setup run
	$(BIN)/llmcore replay fixtures/recorded

test: setup ## Run each property once for each row, in four to seven minutes on two cores; ARGS="tests/normalizer" runs those of a room
	$(KEEP_BYTECODE) $(BIN)/python $(PYTEST) -m "not sweep" $(ARGS)

sweep: setup ## Run the other tests: all combinations, and what is slow; SAMPLE=10 runs a tenth, chosen by SEED (the commit's time)
	$(KEEP_BYTECODE) $(BIN)/python $(PYTEST) -m sweep --sample=$(SAMPLE) --seed=$(SEED) $(ARGS)

versions: ## Run `make test` on each Python of VERSIONS (3.11 3.12 3.13) that is at hand
	@scripts/versions $(VERSIONS)

newest: ## Run the tests of adapters, fallback, orchestrator and run on the newest releases that pyproject.toml allows
	@scripts/newest

test-integrations: setup ## Run the tests of real clients in environments of their own (.venv-integrations-*); ENVIRONMENTS="openai3" runs one
	$(BIN)/python -m scripts.integrations $(ENVIRONMENTS) -- $(ARGS)

live: ## Ask a small real model on this machine, in process and by its server, and record it (needs a network, once; docs/local.md)
	@scripts/live $(RUNS)

compiled: ## Make .venv-compiled: the same source as a compiled wheel (docs/compiled.md)
	@scripts/compiled

# pytest itself, not `python -m pytest`, and no pythonpath: the checkout's own `llmcore` must not come first.
test-compiled: compiled ## Run the tests of what is compiled on the compiled build
	$(KEEP_BYTECODE) LLMCORE_BUILD=compiled .venv-compiled/bin/pytest -o pythonpath= --numprocesses=auto --dist=worksteal \
		-m "not sweep" $(or $(ARGS),tests/normalizer tests/types tests/test_public_surface.py tests/packaging/test_builds.py)

check: setup ## Lint, format check, types (mypy and pyright), import floors
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	scripts/typecheck

# Not `--quiet`: mkdocs counts no warning that it does not show, so nothing would fail.
docs: dev ## Build the docs site into site/; a broken link is an error (mkdocs.yml)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

sbom: setup ## Write the distributions that running needs as CycloneDX into dist/sbom.json
	@mkdir -p dist
	$(BIN)/cyclonedx-py requirements --pyproject pyproject.toml --mc-type library --output-reproducible --output-file dist/sbom.json requirements.lock

api: setup ## Freeze the public API anew, after a change that is meant (docs/stability.md)
	$(BIN)/python -m scripts.public_api

bench-setup: setup ## Fetch SGLang's detectors, which the benchmarks compare with, into benchmarks/.peers
	@test -d benchmarks/.peers/sglang || $(BIN)/python -m benchmarks.peers

bench: bench-setup ## Measure the normaliser: beside SGLang's detectors, what is paid once, streaming, hostile input (half an hour; docs/performance.md)
	$(BIN)/python -m benchmarks.normalize --size 1 8 50
	$(BIN)/python -m benchmarks.normalize --place "behind a sentence" "behind reasoning" "two in one reply" "in a chat completion"
	$(BIN)/python -m benchmarks.first
	$(BIN)/python -m benchmarks.stream
	$(BIN)/python -m benchmarks.hostile

fuzz: setup ## Fuzz the normaliser for FUZZ_SECONDS (60): random mixes, then guided by coverage with atheris
	$(BIN)/python -m tests.fuzz.random_mix --seconds $(FUZZ_SECONDS) --seed $$(date +%s)
	$(BIN)/python -m tests.fuzz.atheris_target --setup
	$(BIN)/python -m tests.fuzz.atheris_target -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -len_control=0 -artifact_prefix=.fuzz/ .fuzz/corpus

lock: ## Resolve pyproject.toml anew into requirements.lock, and what the group `dev` adds into requirements-dev.lock (needs uv)
	$(COMPILE_LOCK) --group install --output-file requirements.lock
	$(COMPILE_LOCK) --group dev --constraint requirements.lock --output-file requirements-dev.lock \
		$$(sed -n 's/^\([a-z0-9.-]*\)==[^;]*$$/--no-emit-package \1/p' requirements.lock)   # with a marker, dev may need it elsewhere

clean: ## Remove .venv and everything that was built
	rm -rf site .venv .venv-3.* .venv-newest .venv-compiled .venv-live .venv-integrations-* .typecheck build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov llmcore_engine.egg-info
	find llmcore adapters normalizer validator fallback tests -name __pycache__ -type d -prune -exec rm -rf {} +
