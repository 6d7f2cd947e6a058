# Every command of this project is said here once; CI, pre-commit and the pages call these targets.

SHELL := /bin/bash
PYTHON ?= python3
WORKERS ?= 2
VENV := .venv
BIN := $(VENV)/bin
LONG_TESTS ?= tests
LONG_LOG ?= docs/experiments/test-long.txt

# Both names: older pips read the first for build isolation too, newer ones only the second.
export PIP_CONSTRAINT := constraints.txt
export PIP_BUILD_CONSTRAINT := constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
INSTALL := $(BIN)/pip install -qq -c constraints.txt

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-long suite lint format types page contracts bench browser clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.runtime ## install, then a tour of the embedded models, without a network; writes demo/report.html
	@$(BIN)/python examples/demo.py --out demo

test: browser lint types page contracts suite ## install, then lint, types, import contracts and all tests

test-long: $(VENV)/.dev ## the tests marked long; their last output stays in docs/experiments
	@mkdir -p $(dir $(LONG_LOG))
	set -o pipefail; $(BIN)/pytest $(LONG_TESTS) -m long --no-header --timeout=3600 2>&1 | tee $(LONG_LOG)

suite: $(VENV)/.dev node_modules/.installed ## all tests but the long ones
	OMP_NUM_THREADS=1 $(BIN)/pytest -n $(WORKERS) --dist worksteal

lint: $(VENV)/.dev ## format and lint, changing nothing
	$(BIN)/ruff format --check
	$(BIN)/ruff check

format: $(VENV)/.dev ## format and lint, mending what can be mended
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

types: $(VENV)/.dev ## pyright, strict on src
	$(BIN)/pyright

page: node_modules/.installed ## types of the page's scripts
	node_modules/.bin/tsc -p tsconfig.json

contracts: $(VENV)/.dev ## who may import whom
	$(BIN)/lint-imports --no-logo

bench: $(VENV)/.peers ## ours beside the peers, two threads each; goes on where it was stopped; writes docs/benchmarks.md
	$(BIN)/python benchmarks/suite/run.py --threads 2

# Compiling llama.cpp takes minutes and a compiler; without it the other peers are measured.
$(VENV)/.peers: $(VENV)/.dev
	$(INSTALL) -e '.[dev,peers]' || echo "llama.cpp cannot be compiled here: measured without it" >&2
	@touch $@

clean: ## forget the environment, the caches and the demo
	rm -rf $(VENV) node_modules .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist build demo
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

browser:
	@.ci/browser

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "clearhead needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)" >&2; \
	  echo "try: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# A stamp is newer than what it was installed from; the development install includes the other.
$(VENV)/.runtime: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) -e .
	@touch $@

node_modules/.installed: package.json package-lock.json
	npm ci --silent --no-audit --no-fund
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) -e '.[dev]'
	@touch $(VENV)/.runtime $@
