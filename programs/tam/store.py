"""A graph on disk: graph.json says everything but the vectors, and names the vectors' file by its content.

graph.json is written last and by one rename, so a folder holds the old graph or the new one, never half of each.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from programs.atomic import replacing
from programs.errors import InputError
from programs.models.encoders.encoder import Vectors
from programs.settings import TamSettings
from programs.state import NodeType
from programs.tam.graph import GraphParts, TypedGraph
from programs.tam.segment import Segment

FORMAT = "staterag-typed-graph"
VERSION = 1


def save_graph(graph: TypedGraph, folder: Path) -> None:
    """Write a graph; one that the folder already holds is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    body = _body(graph.parts)
    vectors = _vectors_file(folder, body["vectors"])
    with replacing(vectors) as file:
        np.savez(file, vectors=graph.parts.vectors)
    with replacing(folder / "graph.json") as file:
        file.write(json.dumps({"format": FORMAT, "version": VERSION, "sha256": _digest(body), "body": body}).encode())
    for stale in folder.glob("vectors-*.npz"):
        if stale != vectors:
            stale.unlink()


def load_graph(folder: Path) -> TypedGraph:
    """Read a graph that `save_graph` wrote, and check that it is whole."""
    body = _read_body(folder / "graph.json")
    try:
        graph = TypedGraph(_parts(body, _read_vectors(folder, body["vectors"])))
        graph.check()
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise InputError(f"{folder}: not a usable graph ({error}); delete the folder and build it again") from error
    return graph


def _body(parts: GraphParts) -> dict[str, Any]:
    return {
        "tam": parts.tam.model_dump(mode="json"),
        "regions": [[region.source_id, region.start, region.end] for region in parts.regions],
        "types": [kind.value for kind in parts.types],
        "texts": list(parts.texts),
        "edges": [list(edge) for edge in parts.edges],
        "rho": [list(region) for region in parts.rho],
        "fallbacks": parts.fallbacks,
        "vectors": _vectors_digest(parts.vectors),
    }


def _parts(body: dict[str, Any], vectors: Vectors) -> GraphParts:
    texts = tuple(body["texts"])
    return GraphParts(
        regions=tuple(
            Segment(source_id, start, end, texts[node])
            for node, (source_id, start, end) in enumerate(body["regions"], start=1)
        ),
        types=tuple(NodeType(kind) for kind in body["types"]),
        texts=texts,
        vectors=vectors,
        edges=tuple((parent, child) for parent, child in body["edges"]),
        rho=tuple(tuple(region) for region in body["rho"]),
        tam=TamSettings.model_validate(body["tam"]),
        fallbacks=body["fallbacks"],
    )


def _read_body(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError(f"{path.parent}: there is no graph.json; is this the folder of a graph?") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: can't be read ({error}); delete the folder and build the graph again") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f"{path}: this is not a graph of this project")
    if document.get("version") != VERSION:
        raise InputError(
            f"{path}: format version {document.get('version')!r}, and this program reads {VERSION}; "
            "delete the folder and build the graph again"
        )
    body = document.get("body")
    if not isinstance(body, dict) or _digest(body) != document.get("sha256"):
        raise InputError(f"{path}: damaged, its content does not match its hash; delete the folder and build it again")
    return body


def _read_vectors(folder: Path, digest: str) -> Vectors:
    path = _vectors_file(folder, digest)
    try:
        with np.load(path, allow_pickle=False) as stored:
            vectors: Vectors = stored["vectors"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: can't be read ({error}); delete the folder and build the graph again") from error
    if vectors.dtype != np.float32 or vectors.ndim != 2 or _vectors_digest(vectors) != digest:
        raise InputError(f"{path}: damaged, its content does not match its hash; delete the folder and build it again")
    return vectors


def _vectors_file(folder: Path, digest: str) -> Path:
    return folder / f"vectors-{digest[:16]}.npz"


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _vectors_digest(vectors: Vectors) -> str:
    return hashlib.sha256(f"{vectors.shape}".encode() + np.ascontiguousarray(vectors).tobytes()).hexdigest()
