"""A method that an installed package brings: described, listed, held to the conformance suite and evaluated like ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = {
    "pyproject.toml": """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "opening-rag"
version = "1.0"
[project.entry-points."staterag.methods"]
opening = "opening_rag:SPEC"
[tool.setuptools]
packages = ["opening_rag"]
""",
    "opening_rag/__init__.py": '''
"""Hands over the opening segments, whatever was asked."""
from pydantic import Field
from programs.frozen import Frozen
from programs.methods.space import Whole
from programs.methods.spec import MethodSpec


class OpeningSettings(Frozen):
    k: int = Field(2, ge=1, description="segments handed over")


SPEC = MethodSpec(
    name="opening",
    label="Opening RAG",
    program="opening_rag.program:Opening",
    settings=OpeningSettings,
    space=(Whole("opening.k", 1, 8, online=True),),
)
''',
    "opening_rag/program.py": """
from opening_rag import OpeningSettings
from programs.methods.base import EvidenceProgram
from programs.methods.segments import segment_index


class Opening(EvidenceProgram):
    name = "opening"

    def index(self, run):
        return segment_index(self, run)

    def select(self, run, index):
        return [segment.record() for segment in index.segments[: self.settings.of(OpeningSettings).k]]
""",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The package in a folder of its own, which a process finds by PYTHONPATH."""
    package, site = tmp_path_factory.mktemp("package"), tmp_path_factory.mktemp("site")
    for name, text in FILES.items():
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).write_text(text.lstrip(), encoding="utf-8")
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target"]
    subprocess.run([*install, str(site), str(package)], check=True, capture_output=True)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}


def python(environment, *arguments, check=True):
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def test_its_settings_and_its_search_space_are_part_of_the_whole(installed):
    shown = json.loads(python(installed, "-m", "programs.run", "settings", "--set", "opening.k=3").stdout)
    assert shown["opening"] == {"k": 3}
    space = "from optimize.spaces import space_of; from programs.settings import load_settings"
    keys = python(installed, "-c", f"{space}; print(list(space_of('opening', load_settings('tiny')).described()))")
    assert keys.stdout.strip() == "['opening.k']"


def test_it_passes_the_conformance_suite_of_methods(installed):
    done = python(installed, "-m", "pytest", "-q", "tests/conformance/methods", "-k", "opening")
    assert " failed" not in done.stdout
    assert "[100%]" in done.stdout


@pytest.mark.model
def test_it_is_evaluated_and_reported_by_its_label(installed, tmp_path):
    run = tmp_path / "run"
    asked = ("--method", "opening,vanilla", "--workload", "sample", "--preset", "tiny", "--no-reader", "--out", run)
    python(installed, "-m", "programs.run", "eval", *asked)
    lines = (run / "records.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["method"] for line in lines} == {"opening", "vanilla"}
    assert "Opening RAG" in python(installed, "-m", "programs.run", "report", run).stdout
