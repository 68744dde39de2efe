# Everything starts from a clone, Python 3.11+ and make. `make help` lists the targets.
PYTHON    ?= python3
VENV      ?= .venv
TEST_JOBS ?= 3
PYTEST_ARGS ?=
QUESTION  ?= How old are the children of the parents who run Svedjan Ost AB?

BIN     := $(VENV)/bin
STAMP   := $(VENV)/.ready
PIP     := $(BIN)/python -m pip --disable-pip-version-check --no-input -qq
BENCHES := $(filter-out bench/_%,$(sort $(wildcard bench/*.py)))

# Settings that say how to reach packages (index, cert, proxy, find-links) are the user's and stay.
# Those that would move an installation elsewhere or change what is installed are not passed on.
unexport PIP_USER PIP_TARGET PIP_PREFIX PIP_ROOT PIP_CONSTRAINT PIP_REQUIREMENT PIP_EDITABLE PIP_REQUIRE_HASHES
unexport PIP_DRY_RUN PIP_IGNORE_INSTALLED PIP_NO_BUILD_ISOLATION PIP_PYTHON PYTHONPATH PYTHONHOME VIRTUAL_ENV
# The tests start hundreds of processes; collecting 13,000 tests takes 21 s where no bytecode is kept, else 11 s.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup check format test demo bench proof nightly docs lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## .venv with everything from requirements.lock, compiled to bytecode (a minute or two; again only when the lock changes)

# pip's own compiling is serial: on two cores, leaving it to compileall takes 35 s where pip alone takes 41 s.
# --no-deps: the lock is complete, so nothing is left to resolve; pip check says so if that were not true.
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
	$(BIN)/complexipy --quiet
	$(BIN)/python -m mypy src tests $(BENCHES)

format: $(STAMP) ## let ruff put the code in order
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

test: tests/__pycache__ check ## check, then all tests but the proofs
	$(BIN)/python -m pytest -n $(TEST_JOBS) --dist worksteal $(PYTEST_ARGS)

# In a new clone mypy keeps one core busy for 40 s, and pytest rewrites every test before it runs any: 10 s, which each of
# its workers would spend. So the other core does it meanwhile, once; what is wrong with a test is told when it runs.
tests/__pycache__: | $(STAMP)
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null 2>&1 &

demo: $(STAMP) ## research a question over the bundled sample library: no key, no network
	$(BIN)/deepdiver --sample "$(QUESTION)"

bench: $(STAMP) ## performance, with figures
	@for script in $(BENCHES); do echo "== $$script"; $(BIN)/python $$script || exit 1; done

proof: $(STAMP) ## the long demonstrations: kill at every boundary, replay, hostile input, properties; with figures
	$(BIN)/python -m pytest -m "proof or hypothesis" -s --hypothesis-profile=proof $(PYTEST_ARGS)

nightly: test proof bench ## everything there is

docs: $(STAMP) ## fill in what the program itself says: the demo in the README, --help, the graphs
	$(BIN)/python docs/refresh.py

lock: | $(BIN)/python ## resolve requirements.lock anew from pyproject.toml (LOCK_ARGS=--upgrade takes newer versions)
	@$(PIP) install uv
	$(BIN)/python -m uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
	  --group dev --extra openai --extra ollama --extra otel --extra mcp --extra osint --extra postgres --extra search --extra service \
	  --no-annotate --no-emit-index-url --custom-compile-command "make lock" $(LOCK_ARGS) --output-file requirements.lock

clean: ## remove .venv, caches and builds
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .complexipy_cache
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
