# Everything a person or CI does with this repository. `make` alone lists it.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DEV    := $(VENV)/.dev
BENCH  := $(VENV)/bench/.ready
APART  := $(VENV)/frameworks/.ready

.DEFAULT_GOAL := help
.PHONY: help run test check pytest lint types imports docs docs-check fmt bench prove rig frameworks lock clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(READY) ## install what is needed, take in this machine's transcripts, show what was found
	@$(BIN)/hansei

test: check pytest ## install what is needed, then every check and every test (what CI runs)

check: lint types imports docs-check ## formatting, lint, types, layers, generated docs

pytest: $(DEV)
	$(BIN)/python -m pytest -n 2 -m "not prove"

lint: $(DEV)
	$(BIN)/ruff format --check src tests tools rig
	$(BIN)/ruff check src tests tools rig

types: $(DEV)
	$(BIN)/mypy src tests tools rig

imports: $(DEV)
	$(BIN)/lint-imports

fmt: $(DEV) ## format the code and fix what lint can fix
	$(BIN)/ruff format src tests tools rig
	$(BIN)/ruff check --fix src tests tools rig

docs: $(DEV) ## write docs/reference again from the code
	$(BIN)/python tools/reference.py

docs-check: $(DEV)
	$(BIN)/python tools/reference.py --check

bench: $(BENCH) ## measure speed beside other programs and write docs/performance.md (20 minutes)
	$(BIN)/python tools/bench

prove: $(DEV) ## the long proofs (minutes)
	$(BIN)/python -m pytest -m prove --timeout=3600

rig: $(DEV) ## real agents on a scripted model (needs npm, 2.5 GB; writes docs/rig.md)
	$(BIN)/python -m rig

frameworks: $(APART) ## agents of LangChain, LangGraph, CrewAI and others, recorded (1 GB, minutes)
	$(VENV)/frameworks/bin/python -m pytest tests/integrations

lock: $(DEV) ## pin the newest versions that pyproject.toml allows
	$(BIN)/python tools/lock.py

clean: ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(READY): requirements/run.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): $(READY) requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

# An environment inside the other one, for what must not be measured along.
$(BENCH): $(DEV) requirements/bench.txt
	@test -x $(VENV)/bench/bin/python || $(PYTHON) -m venv $(VENV)/bench
	@$(VENV)/bench/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bench.txt
	@touch $@

# CrewAI wants an older `mcp` than we do; hansei itself is installed beside it without it.
$(APART): requirements/frameworks.txt pyproject.toml
	@test -x $(VENV)/frameworks/bin/python || $(PYTHON) -m venv $(VENV)/frameworks
	@$(VENV)/frameworks/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/frameworks.txt
	@$(VENV)/frameworks/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
