# Each target sets up what it needs. PYTHON names the interpreter that the virtual environments are made from.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: run test lint test-vllm bench clean

run: .venv/.stamp-run  ## answer the sample's questions
	@$(BIN)/python -m programs.run

test: .venv/.stamp-dev lint  ## everything that must hold, on real models
	$(BIN)/python -m pytest

lint: .venv/.stamp-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test-vllm: .venv/.stamp-dev  ## the conformance suite against a real vLLM server, in an environment of its own
	$(BIN)/python tests/vllm/serve.py

bench: .venv/.stamp-dev  ## measurements; nothing here asserts a time
	$(BIN)/python -m tests.benchmarks.run_all

.venv/.stamp-run: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing StateRAG and its dependencies into .venv (about three minutes, once) …"
	@$(PIP) --editable .
	@touch $@

.venv/.stamp-dev: .venv/.stamp-run
	@$(PIP) --editable ".[dev]"
	@touch $@

clean:
	rm -rf .venv .venv-vllm build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
