# Each target sets up what it needs. PYTHON names the interpreter that the virtual environments are made from.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: run test lint test-vllm bench select clean

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

# Chooses by the evidence alone. The start of StateRAG and what is fixed there come from looking, stage by stage, at
# where gold was lost on development questions.
SELECT = $(BIN)/python -m optimize.parameters --data $(DATA) --limit 40 --train 0 --trials 24 --seed 0 \
	--workload longbench/2wikimqa,longbench/hotpotqa,longbench/musique
COMPILED := runs/compiled
STATERAG_FIXED := verifier.rule=coverage verifier.threshold=0.94 lifecycle.cycles=1 lifecycle.carry=true \
	lifecycle.keep_revised=16 navigation.reading=evidence navigation.paths=plan navigation.chain=false \
	navigation.traces=8 navigation.scorer.embedding=1.0 navigation.scorer.cross-encoder=0 tam.region_rule=names \
	retriever.ranker=fusion retriever.terminals=false retriever.minimum=0

select: .venv/.stamp-dev  ## choose the parameters of the embedded preset on development questions: an hour
	@test -d "$(DATA)" || { echo "make select DATA=DIR: the folder of the workloads' files"; exit 2; }
	for method in vanilla vanilla-rerank dosrag; do \
		$(SELECT) --method $$method --out $(COMPILED)/$$method.json || exit; done
	$(SELECT) --method staterag --start optimize/starts/embedded/staterag.json \
		$(addprefix --set ,$(STATERAG_FIXED)) --out $(COMPILED)/staterag.json
	$(BIN)/python -m optimize.lock $(COMPILED)

clean:
	rm -rf .venv .venv-vllm build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
