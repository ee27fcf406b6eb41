# `make demo` and `make test` need nothing but python3 (3.11 or newer, with venv) and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed-

CLIENT  := client
BUNDLES := src/rocscope/report/bundles

# Many tests start a Python of their own, which compiles all modules again where nothing is kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-min test-environments test-pythons lint bench bench-peers coverage docs release client
.PHONY: client-check clean

demo: $(STAMP)run
	$(BIN)/rocscope demo --force

# Two workers use two cores; threads of the linear algebra beneath each would only get in each other's way. A file
# stays with one of them, which starts its browser, database or Spark once; those that take longest are not kept for last.
test: $(STAMP)dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --durations=10

test-slow: $(STAMP)dev
	$(BIN)/python -m pytest -q -m "slow or every" --slow

lint: $(STAMP)dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright
	$(BIN)/python .ci/check_house.py
	$(BIN)/python .ci/check_prose.py

bench: $(STAMP)dev
	$(BIN)/python benchmarks/bench.py

# With whatever is installed: `$(BIN)/python -m pip install -e '.[bench]'` has them all, PyTorch among them.
bench-peers: $(STAMP)dev
	$(BIN)/python benchmarks/bench_peers.py --page docs/benchmarks.md

# How often every interval holds, on designs that nobody tuned them to: an hour on two idle cores.
coverage: $(STAMP)dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/simulations/simulate.py --bootstrap --page docs/coverage.md
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/simulations/composed.py --page docs/coverage-composed.md

# The guide, the gallery and the reference as a site in build/site. Fails on a warning, a dead link, or a finding of axe,
# whose script comes from the client's packages where npm is installed. All pages are read each time (-E): the search
# index of Sphinx loses the index entries of pages that are not.
docs: $(STAMP)docs
	if command -v npm >/dev/null; then $(MAKE) $(CLIENT)/node_modules/.package-lock.json; fi
	mkdir -p build/try
	$(BIN)/rocscope page --force -o build/try/open.html
	$(BIN)/rocscope demo --force -o build/demo
	cp build/demo/*.html build/try/
	$(BIN)/python -m sphinx -q -E -W --keep-going -j auto -b html docs build/site
	$(BIN)/python .ci/check_site.py build/site
	$(BIN)/python .ci/axe_site.py build/site

# Wheel and sdist in dist/, tried in a fresh environment without the checkout.
release: $(STAMP)release
	$(BIN)/python .ci/release.py

# The lower bounds that pyproject.toml states, installed and tested as they stand.
test-min: .venv-min/.installed
	.venv-min/bin/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder

$(STAMP)run: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e .
	$(BIN)/python .ci/compile_loops.py
	touch $@

$(STAMP)dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[dev]'
	touch $@ $(STAMP)run

$(STAMP)docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[docs]'
	touch $@ $(STAMP)run

$(STAMP)release: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[release]'
	touch $@ $(STAMP)run

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

.venv-min/.installed: pyproject.toml .ci/lower_bounds.py
	$(PYTHON) -m venv .venv-min
	.venv-min/bin/python .ci/lower_bounds.py > .venv-min/constraints.txt
	.venv-min/bin/python -m pip install -q -c .venv-min/constraints.txt -e '.[test]'
	touch $@

# The core of the tests under -W error, -O, -bb, other locales, without HOME, in read-only folders …, one by one.
test-environments: $(STAMP)dev
	$(BIN)/python .ci/environments.py

# The tests on every Python that we promise and that this machine has, without the extras that it lacks wheels for.
test-pythons:
	.ci/pythons

# The report's client: needs Node; what it builds is checked in, so that nobody else does. Its constants come from Python.
client: $(CLIENT)/node_modules/.package-lock.json $(STAMP)dev
	$(BIN)/python $(CLIENT)/constants.py > $(CLIENT)/src/constants.json
	npm --prefix $(CLIENT) run check
	npm --prefix $(CLIENT) run build

# The checked-in bundle is what the checked-in source builds.
client-check:
	npm --prefix $(CLIENT) ci
	npm --prefix $(CLIENT) run check
	npm --prefix $(CLIENT) test
	npm --prefix $(CLIENT) run build
	git diff --exit-code --stat -- $(BUNDLES)

$(CLIENT)/node_modules/.package-lock.json: $(CLIENT)/package-lock.json
	npm --prefix $(CLIENT) ci
	touch $@

clean:
	rm -rf $(VENV) .venv-min dist build demo docs/api docs/gallery
