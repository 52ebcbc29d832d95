"""Runs every benchmark of this folder that needs no data, one after another: `make bench`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":
    for script in sorted(Path(__file__).parent.glob("bench_*.py")):
        print(f"== {script.stem}", flush=True)
        subprocess.run([sys.executable, "-m", f"tests.benchmarks.{script.stem}"], check=True)
