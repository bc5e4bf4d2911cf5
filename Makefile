# Everything runs from .venv, which is made from exact versions (requirements.lock); nothing else is needed but
# Python >= 3.11 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
EXTRAS := .venv-extras
EXTRAS_STAMP := $(EXTRAS)/.installed
TRAIN := .venv-train
TRAIN_STAMP := $(TRAIN)/.installed
# The build for processors, where the package index has it; elsewhere: make trainers TORCH=torch
TORCH := torch==2.13.0+cpu

.PHONY: install demo test check slow browser mutants extras trainers docs wheel-test benchmarks format lock clean

install: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is older than Python 3.11; run: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(STAMP)
	$(BIN)/cwm demo

# Tests start hundreds of processes, each of which would compile our source anew where bytecode is not kept.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(STAMP)
	$(BIN)/python -m pytest -m "not slow" -n 2 --dist loadfile --no-loadscope-reorder

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

slow: $(STAMP)
	$(BIN)/python -m pytest -m "slow and not alone" --durations 0 --hypothesis-profile search -n 2 --dist loadfile
	$(BIN)/python -m pytest -m "slow and alone" --durations 0 --hypothesis-profile search

# The pages in the system's Chromium.
browser: $(STAMP)
	$(BIN)/python -m pytest tests/arena/web/test_browser.py

# Applies each of the wrong changes in tests/mutants to a copy, one at a time: the tests named there must fail.
mutants: $(STAMP)
	$(BIN)/python tests/mutants/check.py

# All extras but gpu: its packages take gigabytes, and no test can run on them without an accelerator; learn brings the
# same code for processors; pgx is what twins are timed beside. The newest versions that fit are taken, as a user's pip does.
extras: $(EXTRAS_STAMP)
	$(EXTRAS)/bin/python -m pytest -m extra --no-skips --ignore tests/train

$(EXTRAS_STAMP): pyproject.toml
	$(PYTHON) -m venv $(EXTRAS)
	$(EXTRAS)/bin/python -m pip install --quiet --disable-pip-version-check \
	  --editable '.[anthropic,batched,docs,images,interop,jaxmarl,learn,parquet,web]' 'pytest>=8.3' 'hypothesis>=6.100' 'httpx>=0.28' 'pgx>=2.6'
	@touch $@

# What needs the extra train: our rows, and models as environments, in the libraries of trainers, which take a gigabyte.
# Minutes on two cores.
trainers: $(TRAIN_STAMP)
	$(TRAIN)/bin/python -m pytest tests/train --no-skips

$(TRAIN_STAMP): pyproject.toml
	$(PYTHON) -m venv $(TRAIN)
	$(TRAIN)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[interop,train]' '$(TORCH)' 'stable-baselines3>=2.7' 'pytest>=8.3' 'hypothesis>=6.100'
	@touch $@

# Makes the documentation in site/, from nothing outside.
docs: $(EXTRAS_STAMP)
	$(EXTRAS)/bin/mkdocs build --strict -f arena/docs/mkdocs.yml

# Builds the wheel and uses it in an environment and a folder of its own.
wheel-test: $(STAMP)
	$(BIN)/python tests/wheel/check.py

benchmarks: $(STAMP)
	$(BIN)/cwm benchmark search
	$(BIN)/cwm benchmark sandbox
	$(BIN)/cwm benchmark games

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Renews the exact versions; needs uv (pip install uv).
lock:
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
	  --no-emit-index-url --no-header --no-annotate --output-file requirements.lock

clean:
	rm -rf $(VENV) $(EXTRAS) $(TRAIN) .pytest_cache .mypy_cache .ruff_cache build dist site
