"""Every setting in one tree: the presets, `--set key=value` and the record of a run all speak of these names."""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from programs.baseline_settings.dosrag import DosragSettings
from programs.baseline_settings.graphrag import GraphragSettings
from programs.baseline_settings.hipporag2 import Hipporag2Settings
from programs.baseline_settings.memorag import MemoragSettings
from programs.baseline_settings.raptor import RaptorSettings
from programs.baseline_settings.react import ReactSettings
from programs.baseline_settings.selfrag import SelfragSettings
from programs.baseline_settings.vanilla import VanillaRerankSettings, VanillaSettings
from programs.contract import Limits
from programs.errors import InputError
from programs.section import Section


class LanguageModelSettings(Section):
    """Which model, on which engine."""

    engine: Literal["llama", "server", "scripted"] = "llama"
    model: str = Field("qwen2.5-coder-1.5b", description="a name of the catalogue, a GGUF file, or the server's name")
    base_url: str | None = Field(None, description="an OpenAI-compatible endpoint, for the engine 'server'")
    api_key_env: str | None = Field(None, description="the environment variable that holds the endpoint's key")
    context: int = Field(4096, ge=512, description="tokens of context to make room for")
    parallel: int = Field(1, ge=1, description="requests under way at once, where a method has several to make")
    threads: int | None = Field(None, description="CPU threads; None takes all cores")
    reuse_prefix: bool = Field(
        False, description="reuse a cached prompt prefix: faster, but greedy completions then depend on earlier calls"
    )
    parameters: int | None = Field(None, description="parameter count for RET, where the catalogue has none")
    timeout: float = Field(120.0, description="seconds before a request to a server counts as a transport fault")
    retries: int = Field(3, ge=0, description="retries of a transport fault; a malformed completion has none")


class EncoderSettings(Section):
    """Which encoder, and the cosine thresholds that suit it (D6)."""

    engine: Literal["onnx", "sentence-transformers", "hashed"] = "onnx"
    model: str = "bge-small-en-v1.5"
    relation_threshold: float = Field(0.80, ge=-1, le=1)
    topic_threshold: float = Field(0.74, ge=-1, le=1)


class CrossEncoderSettings(Section):
    """Which cross-encoder scores pairs."""

    engine: Literal["onnx", "overlap", "none"] = "onnx"
    model: str = "ms-marco-minilm-l-12-v2"


Boundaries = Literal["tokens", "sentences"]
"""Where a region may begin and end: at any token (paper), or between sentences, and always where a section begins."""


class TamSettings(Section):
    """Construction of the typed graph."""

    region_tokens: int = Field(384, ge=8)
    overlap_tokens: int = Field(64, ge=0)
    boundaries: Boundaries = Field(
        "tokens", description="regions begin and end at any token, or between sentences and at sections ('sentences')"
    )
    relation_members: int = Field(8, ge=2)
    topic_members: int = Field(6, ge=2)
    parents: int = Field(2, ge=1)
    region_size: int = Field(10, ge=1, description="Evidence nodes in ρ(v) at most (D2)")
    region_rule: Literal["siblings", "names"] = Field(
        "siblings", description="ρ(v) has v's siblings and neighbours; 'names' also what shares rare names with v"
    )
    abstraction: Literal["model", "lead"] = Field(
        "model", description="'model' asks F_a; 'lead' joins the openings of the children and asks nobody"
    )
    child_tokens: int = Field(96, ge=8, description="tokens of each child that an abstraction sees (D5)")
    abstraction_tokens: int = Field(96, ge=8, description="tokens that an abstraction may have")
    deepen: bool = Field(True, description="add Topic layers until the root's fan-out fits Cmax (D10)")


class NavigationSettings(Section):
    """Limits and scorer of typed navigation."""

    branch: int = Field(2, ge=1, description="B: children kept of each trace")
    beam: int = Field(4, ge=1, description="K: incomplete traces kept")
    candidates: int = Field(32, ge=1, description="Cmax: candidates scored in a traversal")
    depth: int = Field(3, ge=3, description="hmax; a deepened graph raises it to its own depth")
    paths: Literal["one", "target", "plan"] = Field(
        "one", description="one trace a cycle (paper), one a plan target (D12), or one for the query and one a target"
    )
    traces: int = Field(1, ge=1, description="completed traces taken of each traversal; the paper takes one")
    reading: Literal["abstraction", "evidence"] = Field(
        "abstraction", description="a node is compared by its abstraction's vector, or by the nearest Evidence below it"
    )
    chain: bool = Field(
        False, description="read a target together with the most telling sentences of what was already reached"
    )
    scorer: dict[Literal["listwise", "cross-encoder", "likelihood", "embedding"], float] = Field(
        default={"listwise": 1.0}, description="scorers and their weights (D8)"
    )

    @field_validator("scorer")
    @classmethod
    def _weigh(cls, scorer: dict[str, float]) -> dict[str, float]:
        if any(not 0 <= weight < math.inf for weight in scorer.values()) or not any(scorer.values()):
            raise ValueError("no weight may be below 0, and at least one must be above it")
        return scorer


class RetrieverSettings(Section):
    """How the Retriever ranks its region."""

    ranker: Literal["model", "cross-encoder", "embedding", "fusion"] = Field(
        "model", description="who ranks; 'fusion' is the reciprocal ranks of both encoders and of shared names"
    )
    rerank: int = Field(10, ge=1, description="candidates reranked at most")
    terminals: bool = Field(False, description="keep the record that each trace ends at before any other")
    minimum: float = Field(0.0, ge=0, le=1, description="relevance that all but the best candidate need")


class VerifierSettings(Section):
    """How the Verifier judges sufficiency (D13)."""

    rule: Literal["model", "coverage", "both"] = "model"
    wants: Literal["targets", "query", "all", "query-first"] = Field(
        "targets",
        description="what counting looks for: the plan's targets, the query as a whole, or both; 'query-first': the "
        "query, and failing that, in a revision, each target by itself",
    )
    threshold: float = Field(0.5, ge=0, le=1, description="relevance above which a want counts as covered")
    target_threshold: float = Field(
        0.5, ge=0, le=1, description="relevance above which 'query-first' counts a target by itself as covered"
    )


class MemorySettings(Section):
    """What SMP keeps between queries."""

    enabled: bool = True
    keep_global: bool = Field(True, description="keep global memory from one query to the next of a workload")
    order: Literal["strict", "parallel"] = Field(
        "strict", description="'strict': a query sees what the queries before it left; 'parallel': whatever is there"
    )
    similar_plans: int = Field(2, ge=0, description="earlier plans offered to the Planner at most")
    plan_similarity: float = Field(0.8, ge=-1, le=1, description="cosine from which a query counts as similar")


class LifecycleSettings(Section):
    """The controller's budgets."""

    cycles: int = Field(2, ge=1, description="Tmax")
    keep_first: int = Field(5, ge=1)
    keep_revised: int = Field(7, ge=1)
    carry: bool = Field(True, description="a revised cycle may keep earlier evidence (D3)")
    bypass_leaves: int = Field(5, ge=0, description="BYPASS needs at most this many Evidence leaves")
    reader_budget: int = Field(2048, ge=1, description="B: evidence tokens that the reader may see, in encoder tokens")
    answer: bool = Field(True, description="false ends a query before the reader: its evidence alone is wanted")
    reader_tokens: int = Field(64, ge=1, description="tokens that an answer may have")
    role_tokens: int = Field(384, ge=16, description="tokens that a role's completion may have")


class Settings(Section):
    """The whole tree."""

    preset: str = "embedded"
    reader: LanguageModelSettings = LanguageModelSettings()
    auxiliary: LanguageModelSettings = LanguageModelSettings()
    encoder: EncoderSettings = EncoderSettings()
    cross_encoder: CrossEncoderSettings = CrossEncoderSettings()
    tam: TamSettings = TamSettings()
    navigation: NavigationSettings = NavigationSettings()
    retriever: RetrieverSettings = RetrieverSettings()
    verifier: VerifierSettings = VerifierSettings()
    memory: MemorySettings = MemorySettings()
    lifecycle: LifecycleSettings = LifecycleSettings()
    vanilla: VanillaSettings = VanillaSettings()
    vanilla_rerank: VanillaRerankSettings = VanillaRerankSettings()
    dosrag: DosragSettings = DosragSettings()
    react: ReactSettings = ReactSettings()
    selfrag: SelfragSettings = SelfragSettings()
    raptor: RaptorSettings = RaptorSettings()
    graphrag: GraphragSettings = GraphragSettings()
    memorag: MemoragSettings = MemoragSettings()
    hipporag2: Hipporag2Settings = Hipporag2Settings()

    @property
    def digest(self) -> str:
        """A short name of exactly these settings."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]

    def limits(self, max_traces: int) -> Limits:
        """Give the caps that the contract's validators hold proposals to."""
        return Limits(
            keep_first=self.lifecycle.keep_first,
            keep_revised=self.lifecycle.keep_revised,
            max_traces=max_traces,
            carry=self.lifecycle.carry,
        )


def preset_names() -> list[str]:
    """List the presets that ship with the project."""
    folder = resources.files("programs") / "presets"
    return sorted(Path(item.name).stem for item in folder.iterdir() if item.name.endswith(".toml"))


def load_settings(preset: str = "embedded", overrides: Sequence[str] = ()) -> Settings:
    """Read a preset by name or a settings file by path, then apply `key.sub=value` overrides in order."""
    tree = _preset_tree(preset)
    for override in overrides:
        _apply(tree, override)
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"setting {where!r}: {first['msg']} (got {first.get('input')!r})") from error


def _preset_tree(preset: str) -> dict[str, Any]:
    if preset in preset_names():
        text = (resources.files("programs") / "presets" / f"{preset}.toml").read_text(encoding="utf-8")
        return {"preset": preset, **tomllib.loads(text)}
    path = Path(preset)
    if path.suffix == ".toml" and path.is_file():
        try:
            return {"preset": path.stem, **tomllib.loads(path.read_text(encoding="utf-8"))}
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: not a TOML settings file: {error}") from error
    raise InputError(f"there is no preset {preset!r}; use one of {', '.join(preset_names())}, or a .toml file")


def _apply(tree: dict[str, Any], override: str) -> None:
    key, sign, raw = override.partition("=")
    if not sign or not key.strip():
        raise InputError(f"--set takes key=value, for example lifecycle.cycles=3; got {override!r}")
    *branches, leaf = key.strip().split(".")
    node = tree
    for branch in branches:
        node = node.setdefault(branch, {})
        if not isinstance(node, dict):
            raise InputError(f"--set {override!r}: {branch!r} is a value, not a group of settings")
    node[leaf] = _value(raw)


def _value(raw: str) -> Any:
    """Read a value as JSON where it is JSON, else as text."""
    try:
        return json.loads(raw)
    except json.JSONDecodeError:
        return raw
