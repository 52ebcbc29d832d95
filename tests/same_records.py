"""Tell whether two runs of the same questions have the same records, field by field, but for times.

    python -m tests.same_records BEFORE AFTER [--without FIELD ...]

`BEFORE` and `AFTER` are folders of runs. What a record says of time (`latency`, a call's `seconds`) and of its run
(`manifest`, `check`) is left out. A field that one side lacks counts as that field's default only if `--without` names it.
Exits 1 and names the first difference of each kind where there is one.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

TIMES = {"latency", "seconds", "manifest", "check"}


def rows(run: Path) -> dict[tuple[str, str], dict[str, Any]]:
    lines = (run / "records.jsonl").read_text(encoding="utf-8").splitlines()
    return {(row["method"], row["query_id"]): row for row in map(json.loads, lines)}


def differences(before: Any, after: Any, left_out: set[str], where: str = "") -> list[str]:
    """Every place where two JSON values differ, as a dotted path with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = [key for key in {**before, **after} if key not in left_out]
        missing = object()
        pairs = [(key, before.get(key, missing), after.get(key, missing)) for key in keys]
        return [
            text
            for key, old, new in pairs
            for text in (
                [f"{where}.{key}: only on one side"]
                if missing in (old, new)
                else differences(old, new, left_out, f"{where}.{key}")
            )
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [text for i, (old, new) in pairs for text in differences(old, new, left_out, f"{where}[{i}]")]
    return [] if before == after else [f"{where}: {json.dumps(before)[:120]} → {json.dumps(after)[:120]}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--without", nargs="*", default=[], help="further fields to leave out")
    asked = parser.parse_args()
    before, after = rows(asked.before), rows(asked.after)
    found = [f"{key}: only on one side" for key in before.keys() ^ after.keys()]
    for key in before.keys() & after.keys():
        found += [f"{key}{text}" for text in differences(before[key], after[key], {*TIMES, *asked.without})]
    for line in sorted(found)[:40]:
        print(line)
    methods = sorted({method for method, _ in before})
    print(f"{len(before)} records of {', '.join(methods)}: {len(found) or 'no'} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
