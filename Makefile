# What a contributor runs. Every target sets up .venv first; that is done once, and again only when the lock changes.
.DEFAULT_GOAL := help
.PHONY: help setup dev replay test check lock clean

BIN := .venv/bin
UV ?= uv
export PYTHON

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Make or refresh .venv
	@scripts/setup

dev: setup ## Set up, and build the mirror that static tools and editors read
	@scripts/mirror

replay: setup ## Replay the recorded transcripts and print the success rates
	$(BIN)/llmcore replay fixtures/recorded

test: setup ## Run all tests
	$(BIN)/python -m pytest

check: setup ## Lint, format check, types (mypy and pyright), import floors
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	scripts/typecheck

lock: ## Resolve pyproject.toml anew into requirements.lock (needs uv)
	$(UV) pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes --upgrade \
		--default-index https://pypi.org/simple --custom-compile-command "make lock" --quiet --output-file requirements.lock

clean: ## Remove .venv and everything that was built
	rm -rf .venv .typecheck build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov llmcore_engine.egg-info
	find llmcore adapters normalizer validator fallback tests -name __pycache__ -type d -prune -exec rm -rf {} +
