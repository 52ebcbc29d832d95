"""One concept, one name: a newcomer who looks a class up finds one."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_no_two_public_classes_share_a_name():
    places: defaultdict[str, list[str]] = defaultdict(list)
    for folder in ("programs", "signatures", "metrics", "optimize"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
    assert len(places) > 300
