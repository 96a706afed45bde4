# What can be done with a clone? Needs python3 (3.11 or later) and make; everything else is installed into .venv.
PYTHON ?= python3
VENV ?= .venv
LOOM := $(VENV)/bin/loom-ray
UV_INSTALL := VIRTUAL_ENV=$(VENV) $(VENV)/bin/uv pip install --quiet
UV_LOCK := $(VENV)/bin/uv pip compile --generate-hashes --python-version 3.11 --no-header --no-annotate \
	--no-emit-index-url --no-emit-find-links --quiet $(ARGS)

.PHONY: up demo test lint lock clean
.DELETE_ON_ERROR:

up: $(VENV)/.server ## start the server in the foreground; Ctrl-C stops it
	@exec $(LOOM) up $(ARGS)

demo: $(VENV)/.server ## play a short story against the running server
	@exec $(LOOM) demo $(ARGS)

test: lint ## ruff, pyright, pytest
	@$(VENV)/bin/pytest $(ARGS)

lint: $(VENV)/.tests
	@$(VENV)/bin/ruff check --quiet .
	@$(VENV)/bin/pyright --pythonpath $(VENV)/bin/python

lock: $(VENV)/.tests ## write the lock files anew from pyproject.toml (ARGS=--upgrade takes newer versions)
	@$(UV_LOCK) pyproject.toml --group build -o requirements.lock
	@$(UV_LOCK) pyproject.toml --group build --extra test -c requirements.lock -o requirements-test.lock
	@echo "uv<1" | $(UV_LOCK) - -o requirements-installer.lock

clean: ## remove the environment and what the tools left
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "loom-ray needs Python 3.11 or later; choose one with: make PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
		{ echo "python3 cannot make virtual environments here: apt-get install python3-venv" >&2; exit 1; }
	@echo "making $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-installer.lock

$(VENV)/.server: requirements.lock pyproject.toml | $(VENV)/bin/uv
	@echo "installing the server from requirements.lock"
	@$(UV_INSTALL) --require-hashes -r requirements.lock
	@$(UV_INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.tests: requirements-test.lock $(VENV)/.server
	@echo "installing the test tools from requirements-test.lock"
	@$(UV_INSTALL) --require-hashes -r requirements-test.lock
	@touch $@
