# make serve   set up, then run Mnemon on its embedded default
# make test    set up, then run the whole suite
# make check   lint, types and the architecture's contracts
# make bench   measure the cost of the gate

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: serve test check bench lock clean
.DELETE_ON_ERROR:

serve: $(READY)
	@$(BIN)/mnemon serve

test: $(READY)
	@$(BIN)/python -m pytest

check: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(READY)
	@$(BIN)/python bench/gate.py

$(READY): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Mnemon needs Python 3.11 or newer")'
	@echo "Setting up .venv (the first time takes a minute) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)

# Pins every dependency of every platform, with hashes. Needs uv.
lock:
	uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --all-extras --group dev --group build \
	    --generate-hashes --no-emit-index-url --no-annotate --no-header -o requirements.lock

clean:
	rm -rf .venv
