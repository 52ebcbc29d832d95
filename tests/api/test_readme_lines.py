"""The five lines of the README, as they stand there, on the models of the default preset."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "programs" / "workloads" / "sample"


@pytest.mark.model
def test_the_five_lines_print_an_answer_with_its_evidence(tmp_path):
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    shutil.copytree(SAMPLE, tmp_path / "notes", ignore=shutil.ignore_patterns("*.jsonl"))
    lines = (
        block.group(1) + "print(p.answer)\nfor item in p.evidence:\n    print(item.source_id, item.start, item.end)\n"
    )
    done = subprocess.run([sys.executable, "-c", lines], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    _, answer, *evidence = done.stdout.splitlines()
    assert answer.strip()
    assert any("shipyard" in line for line in evidence)
