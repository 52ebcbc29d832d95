"""A run in a process of its own, which a test can kill. It is imported once by a fork server and forked from there."""

from __future__ import annotations

from pathlib import Path

from programs.runner.evaluate import evaluate
from programs.runner.evaluation import Evaluation
from programs.workloads.manifest import AnyManifest
from tests.support.runs import make_evaluation, scripted_runtime

LATENCY = 0.002


def run_once(out: str, methods: str, manifest: AnyManifest, workers: int = 1) -> None:
    """Begin the run or go on with it."""
    evaluation: Evaluation = make_evaluation(methods)
    evaluate(evaluation, manifest, scripted_runtime(latency=LATENCY), Path(out), resume=True, workers=workers)
