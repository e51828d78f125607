# Every target sets up what it needs: a virtual environment with the exact versions of the two lock files.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# modules are parsed by the first process that imports them, not by each, whatever this variable was
export PYTHONDONTWRITEBYTECODE :=

.PHONY: report docs site dist test test-all derivations bench mutants libraries axe lint style lock clean

$(READY): requirements.lock requirements-neural.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c requirements.lock -r requirements-neural.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(READY)

## the figures and then the default pages, which link them, under report/
report: export OMP_NUM_THREADS := 1
report: $(READY)
	$(BIN)/python figures/_every.py -o report/figures
	$(BIN)/boundcheck report -o report --replace

## linters, type checker and all quick tests; each worker has a stretch of them, so that what a file shares is made once, and
## one thread of linear algebra, since threads of two workers wait for each other
test: export OMP_NUM_THREADS := 1
test: style
	$(BIN)/pyright --warnings & types=$$!; $(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not slow"; tests=$$?; \
	  wait $$types && exit $$tests

## the sweeps of several minutes too: error rates over 10^4 replications, ten-minute searches
test-all: export OMP_NUM_THREADS := 1
test-all: lint
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

## proof records found anew for the derivations whose record the verifier has not accepted as it is, and all records
## verified: after a change of a statement, a derivation, the finder or the verifier
derivations: export OMP_NUM_THREADS := 1
derivations: $(READY)
	$(BIN)/boundcheck derive --all --record
	-$(BIN)/boundcheck verify --all  # exit code 1 while some readings are open

## speed and memory against the rivals as ratios, one table in build/benchmarks.md; fails at the end where a target was
## missed, not where a script refuses (there is no GPU)
bench: $(READY)
	$(BIN)/python benchmarks/_table.py || [ $$? = 2 ]

## the tests against 60 changes in each room, 45 minutes a run, and the same command goes on (MUTANTS="--room sweeps": one
## room; MUTANTS="--again build/mutants/lists/sweeps.json": the same changes after tests were cut)
MUTATING := build/mutants/venv/bin/python
mutants: $(READY)
	[ -x $(MUTATING) ] || $(PYTHON) -m venv build/mutants/venv
	$(MUTATING) -m pip install --quiet --disable-pip-version-check --no-deps -r tests/mutants/requirements.lock
	$(MUTATING) -m tests.mutants.run --python $(BIN)/python $(MUTANTS)

## eight libraries that others wrote, run and compared, in an environment of its own (Python 3.11 or 3.12): docs/libraries.md
LIBRARIES := build/libraries/venv/bin/python
libraries: export OMP_NUM_THREADS := 1
libraries:
	[ -x $(LIBRARIES) ] || $(PYTHON) -m venv build/libraries/venv
	$(LIBRARIES) -m pip install --quiet --disable-pip-version-check --no-deps -r examples/libraries/requirements.lock
	$(LIBRARIES) -m pip install --quiet --disable-pip-version-check -c examples/libraries/requirements.lock torch
	$(LIBRARIES) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	cd examples && ../$(LIBRARIES) -m libraries

## axe-core for the checks of contrast and names in tests/report/test_browser.py, which are skipped without it (npm)
axe:
	npm install --silent --no-save --no-audit --no-fund --prefix build/axe axe-core@4

## the documentation under build/site, without a network; a warning ends it
docs: export OMP_NUM_THREADS := 1
docs: export NO_MKDOCS_2_WARNING := 1
docs: $(READY)
	$(BIN)/mkdocs build --quiet --strict

## report, documentation and playground as one static site under build/site, which opens from a folder as well
site: report
	DOCS_REPORT=report $(MAKE) docs
	cp -r report build/site/report
	$(BIN)/python docs/hooks/links.py build/site

## wheel and sdist under dist, checked as the release workflow does
dist: $(READY)
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

lint: style
	$(BIN)/pyright --warnings

style: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check --quiet

## requirements.lock anew from pyproject.toml (needs uv); requirements-neural.lock, with torch, is edited by hand
lock:
	uv pip compile --universal --python-version 3.11 --no-emit-index-url --no-header --no-annotate --quiet \
	  --extra fast --extra proof --extra figures --extra data --extra cluster --group dev \
	  pyproject.toml --output-file requirements.lock

clean:
	rm -rf $(VENV) report
