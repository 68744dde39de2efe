# All you need is a clone, Python 3.11+ and make. `make help` lists the targets.
PYTHON    ?= python3
VENV      ?= .venv
TEST_JOBS ?= 3
PYTEST_ARGS ?=
QUESTION  ?= How old are the children of the parents who run Svedjan Ost AB?

BIN     := $(VENV)/bin
STAMP   := $(VENV)/.ready
PIP     := $(BIN)/python -m pip --disable-pip-version-check --no-input -qq
BENCHES := $(filter-out bench/_%,$(sort $(wildcard bench/*.py)))

# The user's settings for reaching packages (index, cert, proxy, find-links) stay in effect.
# Settings that would redirect the installation or change what is installed are dropped.
unexport PIP_USER PIP_TARGET PIP_PREFIX PIP_ROOT PIP_CONSTRAINT PIP_REQUIREMENT PIP_EDITABLE PIP_REQUIRE_HASHES
unexport PIP_DRY_RUN PIP_IGNORE_INSTALLED PIP_NO_BUILD_ISOLATION PIP_PYTHON PYTHONPATH PYTHONHOME VIRTUAL_ENV
# The tests start hundreds of processes; collecting 21,000 tests takes 12 s without saved bytecode and 6 s with it.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup check format test demo bench proof live nightly docs lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## .venv with everything from requirements.lock, compiled to bytecode (a minute or two; repeated only when the lock changes)

# pip compiles serially: on two cores, compileall takes 35 s and pip alone 41 s.
# --no-deps: the lock is complete, so there is nothing to resolve; pip check reports it if that is not true.
$(STAMP): requirements.lock pyproject.toml | $(BIN)/python
	@echo "Installing from requirements.lock into $(VENV) (a minute or two) ..."
	@$(PIP) install --no-deps --no-compile --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-compile --no-build-isolation --editable .
	@$(PIP) check
	@$(BIN)/python -m compileall -q -j 0 $(VENV)/lib src
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "deepdiver needs Python 3.11 or newer, and '$(PYTHON)' is not: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV)

check: $(STAMP) ## lint, format, complexity and types
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/complexipy
	$(BIN)/python -m mypy src tests $(BENCHES)

format: $(STAMP) ## fix and format the code with ruff
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

test: tests/__pycache__ check ## check, then all tests except the proofs
	$(BIN)/python -m pytest -n $(TEST_JOBS) --dist worksteal $(PYTEST_ARGS)

# In a new clone mypy keeps one core busy for 25 s, and each pytest worker would spend 6 s rewriting every test before
# running any. So the other core does this once, meanwhile; errors in a test appear when it runs.
tests/__pycache__: | $(STAMP)
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null 2>&1 &

demo: $(STAMP) ## research a question over the bundled sample library: no key, no network
	$(BIN)/deepdiver --sample "$(QUESTION)"

bench: $(STAMP) ## measure performance
	@for script in $(BENCHES); do echo "== $$script"; $(BIN)/python $$script || exit 1; done

proof: $(STAMP) ## run the long demonstrations and print figures: kill at every boundary, replay, hostile input, properties
	$(BIN)/python -m pytest -m "proof or hypothesis" -s --hypothesis-profile=proof $(PYTEST_ARGS)

live: $(STAMP) ## ask the real services whose keys are set here: needs a network, and costs a few cents
	$(BIN)/python -m pytest -m live -rs $(PYTEST_ARGS) tests/live

nightly: test proof bench ## run everything

docs: $(STAMP) ## refresh the generated parts of the docs: the demo in the README, --help, the graphs
	$(BIN)/python docs/refresh.py

lock: | $(BIN)/python ## resolve requirements.lock again from pyproject.toml (LOCK_ARGS=--upgrade takes newer versions)
	@$(PIP) install uv
	$(BIN)/python -m uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
	  --group dev --extra openai --extra ollama --extra otel --extra mcp --extra osint --extra postgres --extra search --extra serve --extra exports \
	  --no-annotate --no-emit-index-url --custom-compile-command "make lock" $(LOCK_ARGS) --output-file requirements.lock

clean: ## remove .venv, caches and builds
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .complexipy_cache
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
