"""Every setting in one tree: the presets, `--set key=value` and the record of a run all speak of these names."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field, ValidationError, create_model, field_validator

from programs.bounds import (
    MOST,
    MOST_CANDIDATES,
    MOST_TOKENS,
    Budget,
    CallTokens,
    Candidates,
    Coefficient,
    Count,
    Share,
    Tokens,
    Weight,
)
from programs.contract import Limits
from programs.errors import InputError
from programs.frozen import Frozen
from programs.methods.registry import specs
from programs.setting_faults import explained

Branch = TypeVar("Branch", bound=Frozen)


class LanguageModelSettings(Frozen):
    """Which model, on which engine."""

    engine: str = Field("llama", description="llama, server, or one that an installed package brings")
    model: str = Field("qwen2.5-coder-1.5b", description="a name of the catalogue, a GGUF file, or the server's name")
    base_url: str | None = Field(None, description="an OpenAI-compatible endpoint, for the engine 'server'")
    api_key_env: str | None = Field(None, description="the environment variable that holds the endpoint's key")
    context: int = Field(4096, ge=512, le=MOST_TOKENS, description="tokens of context to make room for")
    parallel: int = Field(1, ge=1, le=256, description="requests under way at once, where a method has several to make")
    threads: int | None = Field(None, ge=1, le=1024, description="CPU threads; None takes all cores")
    reuse_prefix: bool = Field(
        False, description="reuse a cached prompt prefix: faster, but greedy completions then depend on earlier calls"
    )
    parameters: int | None = Field(
        None, ge=1, le=10**15, description="parameter count for RET, where the catalogue has none"
    )
    timeout: float = Field(
        120.0, ge=0.1, le=86_400, description="seconds that a request to a server may take as a whole"
    )
    retries: int = Field(3, ge=0, le=20, description="retries of a transport fault; a malformed completion has none")


class EncoderSettings(Frozen):
    """Which encoder, and the cosine thresholds that suit it."""

    engine: str = Field("onnx", description="onnx, sentence-transformers, or one that an installed package brings")
    model: str = "bge-small-en-v1.5"
    relation_threshold: float = Field(0.80, ge=-1, le=1)
    topic_threshold: float = Field(0.74, ge=-1, le=1)


class CrossEncoderSettings(Frozen):
    """Which cross-encoder scores pairs."""

    engine: str = Field("onnx", description="onnx, none, or one that an installed package brings")
    model: str = "ms-marco-minilm-l-12-v2"


Boundaries = Literal["tokens", "sentences"]
"""Where a region may begin and end: at any token (paper), or between sentences, and always where a section begins."""


class TamSettings(Frozen):
    """Construction of the typed graph."""

    region_tokens: Tokens = 384
    overlap_tokens: int = Field(64, ge=0, le=MOST_TOKENS)
    boundaries: Boundaries = Field(
        "tokens", description="regions begin and end at any token, or between sentences and at sections ('sentences')"
    )
    relation_members: int = Field(8, ge=2, le=MOST)
    topic_members: int = Field(6, ge=2, le=MOST)
    parents: Count = 2
    region_size: Count = Field(10, description="Evidence nodes in ρ(v) at most")
    region_rule: Literal["siblings", "names"] = Field(
        "siblings", description="ρ(v) has v's siblings and neighbours; 'names' also what shares rare names with v"
    )
    abstraction: Literal["model", "lead"] = Field(
        "model", description="'model' asks F_a; 'lead' joins the openings of the children and asks nobody"
    )
    child_tokens: Tokens = Field(96, description="tokens of each child that an abstraction sees")
    abstraction_tokens: Tokens = Field(96, description="tokens that an abstraction may have")
    deepen: bool = Field(True, description="add Topic layers until the root's fan-out fits Cmax")


class NavigationSettings(Frozen):
    """Limits and scorer of typed navigation."""

    branch: Count = Field(2, description="B: children kept of each trace")
    beam: Count = Field(4, description="K: incomplete traces kept")
    candidates: Candidates = Field(32, description="Cmax: candidates scored in a traversal")
    depth: int = Field(3, ge=3, le=100, description="hmax; a deepened graph raises it to its own depth")
    paths: Literal["one", "target", "plan"] = Field(
        "one", description="one trace a cycle (paper), one a plan target, or one for the query and one a target"
    )
    traces: Count = Field(1, description="completed traces taken of each traversal; the paper takes one")
    reading: Literal["abstraction", "evidence"] = Field(
        "abstraction", description="a node is compared by its abstraction's vector, or by the nearest Evidence below it"
    )
    chain: bool = Field(
        False, description="read a target together with the most telling sentences of what was already reached"
    )
    scorer: dict[str, Weight] = Field(
        default={"listwise": 1.0},
        description="trace scorers and their weights: listwise (paper), cross-encoder, likelihood, embedding",
    )

    @field_validator("scorer")
    @classmethod
    def _weigh(cls, scorer: dict[str, float]) -> dict[str, float]:
        if not any(scorer.values()):
            raise ValueError("at least one weight must be above 0")
        return scorer


class RetrieverSettings(Frozen):
    """How the Retriever ranks its region."""

    ranker: str = Field(
        "model",
        description="who ranks: model (paper), cross-encoder, embedding, fusion, which is the reciprocal ranks of "
        "both encoders and of shared names, or fitted, which weighs the like by what was learnt on training questions",
    )
    rerank: Count = Field(10, description="candidates reranked at most")
    terminals: bool = Field(False, description="keep the record that each trace ends at before any other")
    minimum: Share = Field(0.0, description="relevance that all but the best candidate need")
    revision: Literal["again", "add"] = Field(
        "again",
        description="a revision ranks what was carried again with what it found ('again'), or keeps all of it and adds "
        "what it found ('add'), as it always does with cut regions; without lifecycle.carry nothing is carried",
    )
    sentences: int | None = Field(
        None,
        ge=0,
        le=MOST,
        description="what is kept of a region: its heading, its first sentence, and so many more that bear most on "
        "what is wanted; None keeps all of it",
    )


class RankingSettings(Frozen):
    """Weights of the fitted ranking, by their signs, as written by python -m optimize.ranking."""

    alone: dict[str, Coefficient] = Field({}, description="of the first look, at a candidate by itself")
    linked: dict[str, Coefficient] = Field({}, description="of the second, at what leads to it from the best")


class VerifierSettings(Frozen):
    """How the Verifier judges sufficiency."""

    rule: str = Field("model", description="model (paper), coverage, or both, which must agree to pass")
    wants: Literal["targets", "query", "all", "query-first"] = Field(
        "targets",
        description="what counting looks for: the plan's targets, the query as a whole, or both; 'query-first': the "
        "query, and failing that, in a revision, each target by itself",
    )
    threshold: Share = Field(0.5, description="relevance above which a want counts as covered")
    target_threshold: Share = Field(
        0.5, description="relevance above which 'query-first' counts a target by itself as covered"
    )


class MemorySettings(Frozen):
    """What SMP keeps between queries."""

    enabled: bool = True
    keep_global: bool = Field(True, description="keep global memory from one query to the next of a workload")
    order: Literal["strict", "parallel"] = Field(
        "strict", description="'strict': a query sees what the queries before it left; 'parallel': whatever is there"
    )
    horizon: int | None = Field(
        None,
        ge=1,
        le=MOST,
        description="only what the last so many queries of the order left may be used again; None: all",
    )
    similar_plans: int = Field(2, ge=0, le=MOST, description="earlier plans offered to the Planner at most")
    plan_similarity: float = Field(0.8, ge=-1, le=1, description="cosine from which a query counts as similar")


class LifecycleSettings(Frozen):
    """The controller's budgets."""

    cycles: int = Field(2, ge=1, le=100, description="Tmax")
    keep_first: Count = 5
    keep_revised: Count = 7
    carry: bool = Field(True, description="a revised cycle may keep earlier evidence")
    bypass_leaves: int = Field(
        5, ge=0, le=MOST_CANDIDATES, description="BYPASS needs at most this many Evidence leaves"
    )
    reader_budget: Budget = Field(2048, description="B: evidence tokens that the reader may see, in encoder tokens")
    answer: bool = Field(True, description="false ends a query before the reader: its evidence alone is wanted")
    reader_tokens: Budget = Field(64, description="tokens that an answer may have")
    reader_form: Literal["paper", "cited"] = Field(
        "paper",
        description="how the reader is asked, whatever the method: the paper's prompt, or the question after the "
        "evidence and the numbers of the records before the answer",
    )
    role_tokens: CallTokens = Field(384, description="tokens that a role's completion may have")
    constrained: bool = Field(
        True, description="hold completions to the JSON schema that is asked for; false only describes it"
    )


class SupportSettings(Frozen):
    """How it is told whether an answer stands on its evidence."""

    judge: bool = Field(False, description="judge every answer, which takes the cross-encoder some sentences")
    weights: dict[str, Coefficient] = Field({}, description="of each sign, as fitted by python -m optimize.support")
    bias: Coefficient = 0.0
    threshold: Share = Field(0.5, description="probability below which an answer counts as not found")


class Settings(Frozen):
    """What all methods share. `load_settings` gives the whole tree, which has a branch for each method beside this."""

    preset: str = "embedded"
    reader: LanguageModelSettings = LanguageModelSettings()
    auxiliary: LanguageModelSettings = LanguageModelSettings()
    encoder: EncoderSettings = EncoderSettings()
    cross_encoder: CrossEncoderSettings = CrossEncoderSettings()
    tam: TamSettings = TamSettings()
    navigation: NavigationSettings = NavigationSettings()
    retriever: RetrieverSettings = RetrieverSettings()
    ranking: RankingSettings = RankingSettings()
    verifier: VerifierSettings = VerifierSettings()
    memory: MemorySettings = MemorySettings()
    lifecycle: LifecycleSettings = LifecycleSettings()
    support: SupportSettings = SupportSettings()

    @property
    def digest(self) -> str:
        """A short name of exactly these settings."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]

    @property
    def adds(self) -> bool:
        """Whether a revision keeps all that was committed before it, and only adds to it.

        Sentences that were chosen for one plan can't be ranked again beside the next one's whole regions, so they stay.
        """
        retriever = self.retriever
        return self.lifecycle.carry and (retriever.revision == "add" or retriever.sentences is not None)

    def limits(self, max_traces: int) -> Limits:
        """Give the caps that the contract's validators hold proposals to; what stays must fit them."""
        first, revised = self.lifecycle.keep_first, self.lifecycle.keep_revised
        return Limits(
            keep_first=first,
            keep_revised=max(first, revised) if self.adds else revised,
            max_traces=max_traces,
            carry=self.lifecycle.carry,
        )

    def of(self, branch: type[Branch]) -> Branch:
        """A method's own branch, by its type."""
        for name in type(self).model_fields:
            value = getattr(self, name)
            if type(value) is branch:
                return value
        raise InputError(f"these settings have no branch for {branch.__name__}; load them with load_settings")

    def changed(self, values: Mapping[str, Any]) -> Settings:
        """The same settings but for some values, by dotted keys."""
        tree = self.model_dump(mode="json")
        for key, value in values.items():
            _put(tree, key, value)
        return settings_from(tree)


@cache
def settings_tree() -> type[Settings]:
    """The type of the whole tree: what all methods share, and the branch that each method declares.

    It is made when settings are first loaded, so that a package that brings a method can import this module.
    """
    branches: dict[str, Any] = {one.branch: (one.settings, one.settings()) for one in specs().values() if one.settings}
    tree: type[Settings] = create_model("Settings", __base__=Settings, **branches)
    return tree


def settings_from(tree: Mapping[str, Any]) -> Settings:
    """Settings from plain values; an `InputError` says which one can't be."""
    try:
        return settings_tree().model_validate(tree)
    except ValidationError as error:
        raise InputError(explained(error, settings_tree())) from error


def preset_names() -> list[str]:
    """List the presets that ship with the project."""
    folder = resources.files("programs") / "presets"
    return sorted(Path(item.name).stem for item in folder.iterdir() if item.name.endswith(".toml"))


def load_settings(preset: str = "embedded", overrides: Sequence[str] = ()) -> Settings:
    """Read a preset by name or a settings file by path, then apply `key.sub=value` overrides in order."""
    tree = _preset_tree(preset)
    for override in overrides:
        _apply(tree, override)
    return settings_from(tree)


def _preset_tree(preset: str) -> dict[str, Any]:
    if preset in preset_names():
        text = (resources.files("programs") / "presets" / f"{preset}.toml").read_text(encoding="utf-8")
        return {"preset": preset, **tomllib.loads(text)}
    path = Path(preset)
    if path.suffix == ".toml" and path.is_file():
        try:
            return {"preset": path.stem, **tomllib.loads(path.read_text(encoding="utf-8"))}
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}: not a TOML settings file: {error}") from error
        except OSError as error:
            raise InputError(f"{path}: can't be read ({error.strerror})") from error
    if path.suffix == ".toml":
        raise InputError(f"{path}: {'a folder' if path.is_dir() else 'there is no such file'}; name a settings file")
    raise InputError(f"there is no preset {preset!r}; use one of {', '.join(preset_names())}, or a .toml file")


def _apply(tree: dict[str, Any], override: str) -> None:
    key, sign, raw = override.partition("=")
    if not sign or not key.strip():
        raise InputError(f"--set takes key=value, for example lifecycle.cycles=3; got {override!r}")
    _put(tree, key.strip(), _value(raw))


def _put(tree: dict[str, Any], key: str, value: Any) -> None:
    *branches, leaf = key.split(".")
    node = tree
    for branch in branches:
        node = node.setdefault(branch, {})
        if not isinstance(node, dict):
            raise InputError(f"--set {key}: {branch!r} is a value, not a group of settings")
    node[leaf] = value


def _value(raw: str) -> Any:
    """Read a value as JSON where it is JSON that can be read, else as text."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return raw
