# The environment is made by itself, and again whenever requirements.txt changes.
# PYTHON=… chooses the interpreter for it (3.11 to 3.13).

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
  $$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null \
  && echo $$p && break; done)
BIN := .venv/bin
READY := .venv/.installed

.PHONY: serve test build bench outputs agree lint check format lock clean

serve: $(READY)  ## both languages at localhost:8000, reloading as you edit
	$(BIN)/python -m scripts.build serve

test: $(READY)  ## every test
	$(BIN)/python -m pytest $(or $(TESTS),-n auto --dist loadgroup)

build: $(READY)  ## the site, strictly, into site/
	$(BIN)/python -m scripts.build site

bench: $(READY)  ## measure here and write this machine's record; ONLY=name,name
	$(BIN)/python -m pytest tests/benchmarks --bench -q --only "$(ONLY)" $(if $(MACHINE),--machine "$(MACHINE)")

outputs: $(READY)  ## write what blocks print into the pages; PAGE=docs/en/….md
	$(BIN)/python -m scripts.build outputs $(PAGE)

agree: $(READY)  ## take both languages of a page as agreed; PAGE=effective/operators.md
	$(BIN)/python -m scripts.build agree $(PAGE)

lint: $(READY)  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check: $(READY)  ## what outputs, agree and bench would change
	$(BIN)/python -m scripts.build outputs --check
	$(BIN)/python -m scripts.build agree --check
	$(BIN)/python -m scripts.build timings

format: $(READY)  ## put Python files into the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(READY)  ## make requirements.txt from pyproject.toml, for all platforms
	$(BIN)/uv pip compile --universal --python-version 3.11 --no-header --upgrade pyproject.toml -o requirements.txt

clean: $(READY)
	$(BIN)/python -m scripts.build clean

$(READY): requirements.txt
	@test -n "$(PYTHON)" || { echo "No Python 3.11, 3.12 or 3.13 was found. Install one, or name it: make PYTHON=/path/to/python3.13"; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements.txt
	@touch $@
