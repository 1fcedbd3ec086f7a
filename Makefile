# `make demo` and `make test` start from a bare machine with Python >= 3.11, git and make.
# PYTHON=/path/to/python3 chooses the interpreter of .venv.

# The machine's own certificates, where it has them: some networks add one.
CERTIFICATES := $(if $(wildcard /etc/ssl/certs/ca-certificates.crt),true,false)
export UV_SYSTEM_CERTS ?= $(CERTIFICATES)
export UV_NATIVE_TLS ?= $(CERTIFICATES)

VENV_PYTHON := .venv/bin/python
EXPBENCH := .venv/bin/expbench

.PHONY: help setup demo test lint lock clean

help:
	@echo "make demo   evaluate three scripted agents on the mini suite and print the oracle's scores"
	@echo "make test   lint, type-check and test"
	@echo "make setup  make .venv (demo and test do so themselves)"
	@echo "make lint   ruff and mypy only"
	@echo "make lock   lock the dependencies again (UV_ARGS=--upgrade for newer versions)"
	@echo "make clean  remove .venv, caches and the demo's runs"

setup:
	@bash scripts/setup

# The oracle comes last, so that the demo ends with its table and the path of its report.
demo: setup
	@rm -rf runs/demo-null runs/demo-cheat runs/demo-oracle
	@for agent in null cheat oracle; do \
		$(EXPBENCH) run --suite mini --agent $$agent --judge baseline --out runs/demo-$$agent || exit; \
	done

test: lint
	@$(VENV_PYTHON) -m pytest -n auto

lint: setup
	@$(VENV_PYTHON) -m ruff check
	@$(VENV_PYTHON) -m ruff format --check
	@$(VENV_PYTHON) -m mypy

# --no-header and the --no-emit options keep addresses and paths of the machine out of the lock.
lock: setup
	@.venv/bin/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
		--extra bwrap --extra construct --extra data --extra seal --group dev --group build --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links $(UV_ARGS) --output-file requirements.lock

clean:
	@rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	@rm -rf runs/demo-null runs/demo-cheat runs/demo-oracle
