# make demo   core environment, the demo set judged in both modes, a report to look at
# make check  lint, types, import contracts, quick tests: under a minute, no torch
# make test   the full environment and every test
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
DEMO := demo_run
DEPENDS := pyproject.toml constraints.txt

.PHONY: demo check test lint types contracts browser clean

# Both modes at once, a process each with one sample at a time: the embedded judge fills a core.
demo: $(VENV)/.core
	@rm -rf $(DEMO) && mkdir $(DEMO)
	@run="$(BIN)/agent-judge run eval_data/demo/manifest.jsonl --judge measured --jobs 1 --max-unscored 1"; \
	$$run --mode tool --out $(DEMO)/tool > $(DEMO)/tool.txt 2>&1 & \
	$$run --mode oracle --out $(DEMO)/oracle; oracle=$$?; \
	wait $$!; tool=$$?; cat $(DEMO)/tool.txt; exit $$((oracle | tool))
	@$(BIN)/agent-judge report $(DEMO)/oracle $(DEMO)/tool -o $(DEMO)/report
	@echo "open $(CURDIR)/$(DEMO)/report/index.html"

check: $(VENV)/.dev lint types contracts
	@$(BIN)/pytest -q -n 2 --hypothesis-profile=quick \
	  -m "not slow and not torch and not gpu and not network and not weights"

test: $(VENV)/.full browser lint types contracts
	@$(BIN)/pytest -q -n 2 -m "not gpu and not network"

lint: $(VENV)/.dev
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(VENV)/.dev
	@$(BIN)/mypy

contracts: $(VENV)/.dev
	@$(BIN)/lint-imports

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "$(PYTHON) must be Python 3.11 or newer: install it, or pass PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { \
	  echo "$(PYTHON) cannot make a virtual environment: on Debian and Ubuntu apt-get install python3-venv" >&2; exit 1; }

$(VENV)/.core: $(DEPENDS) | $(VENV)/bin/python
	@echo "installing the core environment into $(VENV)"
	@$(PIP) -c constraints.txt -e .
	@$(BIN)/python -c 'import cv2' || { \
	  echo "OpenCV cannot be loaded: on Debian and Ubuntu apt-get install libgl1 libglib2.0-0" >&2; exit 1; }
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	@echo "installing the development tools into $(VENV)"
	@$(PIP) -c constraints.txt -e '.[dev,ocr,remote]'
	@touch $@

# torch and torchvision first and with pip, then the rest without build isolation: the isolated
# build of basicsr would install a second torch.
$(VENV)/.full: $(VENV)/.dev
	@echo "installing torch and the model packages into $(VENV): several GB"
	@$(PIP) -c constraints.txt torch torchvision
	@$(PIP) -c constraints.txt 'setuptools>=77' wheel hatchling editables
	@$(PIP) -c constraints.txt --no-build-isolation -e '.[models,dev,ocr,ray,remote]'
	@touch $@

# The pages are tested in a real browser; without one those tests are skipped and say so.
browser:
	@command -v chromium >/dev/null || { echo "installing chromium"; \
	  apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } || \
	  echo "chromium is missing and cannot be installed here: tests of pages are skipped" >&2

clean:
	rm -rf $(VENV) $(DEMO) dist build
