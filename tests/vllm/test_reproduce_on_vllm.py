"""The way from the paper's preset to a page of what held, walked once on a real vLLM server."""

from __future__ import annotations

import os

import pytest
from typer.testing import CliRunner

from programs import run

URL = os.environ.get("STATERAG_VLLM_URL")
MODEL = "smollm2-135m"
SMALL = {
    "reader.model": MODEL,
    "auxiliary.model": MODEL,
    "reader.timeout": 600,
    "auxiliary.timeout": 600,
    "encoder.engine": "onnx",
    "encoder.model": "bge-small-en-v1.5",
}
"""One small model under both names, and an encoder of the catalogue."""
pytestmark = [pytest.mark.server, pytest.mark.skipif(URL is None, reason="needs a vLLM server: make test-vllm")]


def test_the_papers_preset_comes_to_its_end_and_tells_what_stayed_incomplete(tmp_path, monkeypatch):
    assert URL is not None
    for part in ("READER", "AUXILIARY"):
        monkeypatch.setenv(f"STATERAG_{part}_URL", URL)
    changed = [argument for key, value in SMALL.items() for argument in ("--set", f"{key}={value}")]
    asked = ["reproduce", "--preset", "paper", "--limit", "1", "--only", "carriers", "--out", str(tmp_path), *changed]
    done = CliRunner().invoke(run.app, asked)
    assert done.exit_code in (0, 1), done.output  # 1 where the model scores no trace, and no query was completed
    page = (tmp_path / "README.md").read_text()
    assert "# Reproduction with the preset paper" in page
    assert "## Incomplete queries" in page
    assert "Matched carrier control" in (tmp_path / "report" / "tables.md").read_text()
