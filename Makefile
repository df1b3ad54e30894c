# Works with nothing but make and a Python >= 3.11 that has venv: each target sets up .venv itself.
# Choose the interpreter with `make PYTHON=/path/to/python3.12 ...`.

SHELL := /bin/sh
VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/.ready
HOST  ?= 127.0.0.1
PORT  ?= 8080
DATA  ?= .a2a-fn
SEED  ?= 1
MODE  ?=

# A pyenv shim can be on PATH and not work, so each candidate is run, not looked up.
FIND_PYTHON = for p in $(PYTHON) python3.13 python3.12 python3.11 python3 python; do \
	  "$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	    && { command -v "$$p"; exit 0; }; \
	done; \
	echo "a2a-fn needs Python >= 3.11 with the venv module (Debian: apt install python3-venv)." \
	     "Or name one: make PYTHON=/path/to/python3.12" >&2; exit 1

# The tests on Redis need a redis-server. Where it can be had without asking, it is installed, once
# per .venv; where not, those tests say so and are skipped.
REDIS := $(VENV)/.redis
APT    = DEBIAN_FRONTEND=noninteractive timeout 120 apt-get -qq -o Acquire::http::Timeout=10
GET_REDIS = command -v redis-server || { test "$$(id -u)" = 0 && test -f /etc/debian_version && \
	  { echo "installing redis-server for the tests" >&2; $(APT) update; \
	    $(APT) install -y --no-install-recommends redis-server; }; }

.PHONY: help run test test-all lint types check format bench simulate clean
.DEFAULT_GOAL := help

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): pyproject.toml constraints.txt
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  python=$$($(FIND_PYTHON)) || exit 1; \
	  echo "setting up $(VENV) with $$python"; \
	  "$$python" -m venv --clear $(VENV); }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt hatchling editables
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-build-isolation -e '.[cli,dev]'
	@touch $@

$(REDIS): $(READY)
	@{ $(GET_REDIS); } >/dev/null || echo "without redis-server: the tests on Redis are skipped"
	@touch $@

run: $(READY) ## start the server on 127.0.0.1:8080 (HOST=, PORT=, DATA= change it)
	@echo "a2a-fn on http://$(HOST):$(PORT), state in $(DATA)/ (Ctrl-C stops it). In another shell, try:"
	@echo '  $(BIN)/a2a-fn call http://$(HOST):$(PORT) "Create a VPC with two vSwitches" --out out'
	@exec $(BIN)/a2a-fn serve --host $(HOST) --port $(PORT) --data $(DATA)

test: $(READY) $(REDIS) ## run every quick test; says what was skipped and why
	@$(BIN)/python -m pytest

test-all: test ## run the slow suites too
	@$(BIN)/python -m pytest -m slow

lint: $(READY) ## look for faults that a machine can see, and for unformatted code
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(READY) ## check the types
	@$(BIN)/mypy

check: lint types test ## what to run before a commit

format: $(READY) ## sort imports and format the code
	@$(BIN)/ruff check --select I --fix --quiet .
	@$(BIN)/ruff format .

bench: $(READY) ## measure against the SDK's own server, as ratios
	@$(BIN)/python -m tests.bench

simulate: $(READY) ## replay one schedule of the simulation: SEED=n [MODE=sequential|atomic]
	@$(BIN)/python -m tests.simulation.run --seed $(SEED) $(if $(MODE),--mode $(MODE))

clean: ## remove what the targets made (.venv and caches; not the state in DATA)
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build
