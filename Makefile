# Each target sets up what it needs. PYTHON names the interpreter that the virtual environments are made from.
PYTHON ?= python3
BIN := .venv/bin
CONSTRAINTS := tests/constraints.txt
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint $(CONSTRAINTS)

.PHONY: run test lint test-vllm bench campaign select clean

run: .venv/.stamp-run  ## answer the sample's questions
	@$(BIN)/python -m programs.run

test: .venv/.stamp-dev lint  ## everything that must hold, on real models
	$(BIN)/python -m pytest

lint: .venv/.stamp-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test-vllm: .venv/.stamp-dev  ## the conformance suite and the paper's preset on a real vLLM server, in an environment of its own
	$(BIN)/python tests/vllm/serve.py

bench: .venv/.stamp-dev  ## measurements; nothing here asserts a time
	$(BIN)/python -m tests.benchmarks.run_all

campaign: .venv/.stamp-dev  ## faults by the thousand: kills, a bad server, full disks, hostile proposals and documents
	$(BIN)/python -m tests.campaign --page $(if $(SEED),--seed $(SEED))

.venv/.stamp-run: pyproject.toml $(CONSTRAINTS)
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing StateRAG and its dependencies into .venv (about three minutes, once) …"
	@$(PIP) --editable .
	@touch $@

.venv/.stamp-dev: .venv/.stamp-run
	@$(PIP) --editable ".[dev]"
	@touch $@

# Chooses by the evidence alone, at a price for its length. The regions of all methods are the preset's; where StateRAG
# starts from, and what is fixed for it, comes from looking, stage by stage, at where gold was lost on development
# questions. Half of a passage is no measure of evidence that is cut to sentences: it is found where evidence lies in it.
# The methods that ask a model many times a question, up to fourteen minutes of it on two cores, choose on ten
# questions and leave alone what would make an index ask anew.
SHARED := tam.region_tokens=256 tam.overlap_tokens=0 tam.boundaries=sentences
SELECT = $(BIN)/python -m optimize.parameters --data $(DATA) --train 0 --seed 0 --trials 24 \
	$(addprefix --set ,$(SHARED))
TASKS := longbench/2wikimqa,longbench/hotpotqa,longbench/musique
MANY := --limit 40 --workload $(TASKS) --quality passage_recall
FEW := --limit 10 --workload longbench/2wikimqa --cheap --quality passage_recall
CUT := --limit 40 --workload $(TASKS) --quality passage_found
COMPILED := optimize/compiled/embedded
STATERAG_FIXED := verifier.rule=coverage verifier.wants=query-first verifier.threshold=0.9 lifecycle.cycles=2 lifecycle.carry=true \
	lifecycle.keep_revised=10 encoder.relation_threshold=0.80 encoder.topic_threshold=0.74 tam.region_rule=names \
	navigation.paths=plan navigation.chain=false navigation.reading=evidence navigation.branch=4 navigation.beam=8 \
	navigation.candidates=64 navigation.scorer.embedding=1.0 navigation.scorer.cross-encoder=0 \
	retriever.ranker=fitted retriever.terminals=false retriever.minimum=0 retriever.revision=add retriever.sentences=2

select: .venv/.stamp-dev  ## choose the parameters of the embedded preset on development questions: a night
	@test -d "$(DATA)" || { echo "make select DATA=DIR: the folder of the workloads' files"; exit 2; }
	for method in vanilla vanilla-rerank dosrag; do \
		$(SELECT) $(MANY) --method $$method --out $(COMPILED)/$$method.json || exit; done
	for method in react selfrag raptor graphrag memorag hipporag2; do \
		$(SELECT) $(FEW) --method $$method --out $(COMPILED)/$$method.json || exit; done
	$(BIN)/python -m optimize.ranking --workload $(TASKS) --data $(DATA) --out programs/presets/embedded.toml || exit
	$(SELECT) $(CUT) --method staterag --start optimize/starts/embedded/staterag.json \
		$(addprefix --set ,$(STATERAG_FIXED)) --out $(COMPILED)/staterag.json
	$(BIN)/python -m optimize.lock --unequal $(COMPILED)

clean:
	rm -rf .venv .venv-vllm build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
