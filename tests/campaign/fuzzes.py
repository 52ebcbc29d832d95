"""The fuzz tests that stand beside the readers of each file format, with many more examples than in the suite."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from tests.campaign.figures import Figures, measured
from tests.support.examples import VARIABLE

TESTS = Path(__file__).parents[1]
NOTHING_SELECTED = 5
"""What pytest answers where no test has the mark or the name."""


def campaign(count: int, seed: int, folder: Path) -> Figures:
    """Run every test that is marked or named as one, with so many examples each."""
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "report.xml"
    asked = (
        "-k",
        "fuzz",
        f"--hypothesis-seed={seed}",
        f"--junit-xml={report}",
        "-p",
        "no:cacheprovider",
        "-o",
        "addopts=",
    )
    options = ("-q", "--import-mode=importlib", f"--ignore={Path(__file__).parent}")
    with measured("fuzz", seed, "fuzz tests") as figures:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *asked, str(TESTS)],
            cwd=TESTS.parent,
            env=os.environ | {VARIABLE: str(count)},
            stdout=sys.stderr,
            check=False,
        )
        cases = [*ElementTree.parse(report).iter("testcase")] if report.exists() else []
        figures.count = len(cases)
        for case in cases:
            name = f"{case.get('classname', '').removeprefix('tests.')}"
            figures.kinds[name] += 1
            if case.find("failure") is not None or case.find("error") is not None:
                figures.find(f"{name}: {case.get('name')}")
        well = done.returncode in (0, NOTHING_SELECTED)
        figures.expect(well or bool(figures.findings), f"pytest ended with code {done.returncode}")
    return figures
