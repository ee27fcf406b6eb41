# `make demo` and `make test` need nothing but python3 (3.11 or newer, with venv) and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed-

.PHONY: demo test test-slow test-min lint bench clean

demo: $(STAMP)run
	$(BIN)/rocscope demo --force

test: $(STAMP)dev
	$(BIN)/python -m pytest -q -n 2

test-slow: $(STAMP)dev
	$(BIN)/python -m pytest -q -m slow --slow

lint: $(STAMP)dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright
	$(BIN)/python .ci/check_lengths.py

bench: $(STAMP)dev
	$(BIN)/python benchmarks/bench.py

# The lower bounds that pyproject.toml states, installed and tested as they stand.
test-min: .venv-min/.installed
	.venv-min/bin/python -m pytest -q -n 2

$(STAMP)run: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e .
	touch $@

$(STAMP)dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[dev]'
	touch $@ $(STAMP)run

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

.venv-min/.installed: pyproject.toml .ci/lower_bounds.py
	$(PYTHON) -m venv .venv-min
	.venv-min/bin/python .ci/lower_bounds.py > .venv-min/constraints.txt
	.venv-min/bin/python -m pip install -q -c .venv-min/constraints.txt -e '.[test]'
	touch $@

clean:
	rm -rf $(VENV) .venv-min dist build demo
