"""How long grouping takes, and how much memory: `python tests/benchmarks/bench_grouping.py [n …]`."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from programs.models.encoders.encoder import Vectors
from programs.tam.group import cosine_groups, unit_rows

DIMENSION = 384


def clustered(n: int, seed: int = 0) -> tuple[Vectors, float]:
    """Give tight clusters of about ten, and a threshold that holds within them and not between them."""
    rng = np.random.default_rng(seed)
    centres = unit_rows(rng.standard_normal((max(1, n // 10), DIMENSION)).astype(np.float32))
    noise = rng.standard_normal((n, DIMENSION)).astype(np.float32) * (0.4 / DIMENSION**0.5)
    return unit_rows(centres[rng.integers(len(centres), size=n)] + noise), 0.78


def dense(n: int, seed: int = 0) -> tuple[Vectors, float]:
    """Give one broad cloud, as a small encoder does, and the threshold that a sixth of all pairs pass."""
    rng = np.random.default_rng(seed)
    common = unit_rows(rng.standard_normal((1, DIMENSION)).astype(np.float32))
    spread = rng.standard_normal((n, 24)).astype(np.float32) @ rng.standard_normal((24, DIMENSION)).astype(np.float32)
    vectors = unit_rows(common + 0.65 * unit_rows(spread))
    sample = vectors[: min(n, 1500)]
    return vectors, float(np.quantile((sample @ sample.T)[np.triu_indices(len(sample), 1)], 5 / 6))


def identical(n: int) -> tuple[Vectors, float]:
    """Give n copies of one vector: every pair is a tie."""
    return np.tile(unit_rows(np.arange(1, DIMENSION + 1, dtype=np.float32)[None]), (n, 1)), 0.78


def main(sizes: list[int]) -> None:
    """Print one line a case: n, seconds on the clock and of processor time, peak MB of the process, groups."""
    for n in sizes:
        for make in (clustered, dense, identical):
            vectors, threshold = make(n)
            started, busy = time.perf_counter(), time.process_time()
            groups = cosine_groups(vectors, threshold, members=8)
            seconds, busy = time.perf_counter() - started, time.process_time() - busy
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            times = f"{seconds:6.2f} s (processor {busy:5.2f} s)"
            print(f"{make.__name__:<10} n={n:<6} {times}  peak {peak:4.0f} MB  {len(groups)} groups")


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [40, 1_000, 10_000])
