"""The models of a run, opened once from its settings and shared by every query, role and copy of a program."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from programs.errors import ModelUnavailable
from programs.models.backend import Backend
from programs.models.encoder import CrossEncoder, Encoder
from programs.models.language_model import LanguageModel
from programs.settings import CrossEncoderSettings, EncoderSettings, LanguageModelSettings, Settings


@dataclass(frozen=True)
class Runtime:
    """Settings and the models that they name."""

    settings: Settings
    reader: LanguageModel
    auxiliary: LanguageModel
    encoder: Encoder
    cross_encoder: CrossEncoder | None

    def __deepcopy__(self, memo: dict[int, Any]) -> Runtime:
        """Stay one: optimisers copy programs, and a copy must not load its models again."""
        return self

    def behind(self, around: Callable[[Backend], Backend]) -> Runtime:
        """Give the same with an engine put before each of its engines; one that both models share stays one."""
        auxiliary = LanguageModel(around(self.auxiliary.backend))
        reader = auxiliary if self.reader is self.auxiliary else LanguageModel(around(self.reader.backend))
        return replace(self, auxiliary=auxiliary, reader=reader)

    def close(self) -> None:
        """Close the engines."""
        for model in {id(m): m for m in (self.reader, self.auxiliary)}.values():
            model.backend.close()


def open_runtime(settings: Settings) -> Runtime:
    """Load the models, and refuse at once what the settings need and a model can't do."""
    auxiliary = LanguageModel(open_backend(settings.auxiliary, "auxiliary"))
    same = settings.reader == settings.auxiliary
    reader = auxiliary if same else LanguageModel(open_backend(settings.reader, "reader"))
    runtime = Runtime(
        settings=settings,
        reader=reader,
        auxiliary=auxiliary,
        encoder=open_encoder(settings.encoder),
        cross_encoder=open_cross_encoder(settings.cross_encoder),
    )
    check_capabilities(runtime)
    return runtime


def check_capabilities(runtime: Runtime) -> None:
    """Say what is missing before the first query, not in the middle of one."""
    settings = runtime.settings
    able = runtime.auxiliary.backend.capabilities
    name = runtime.auxiliary.model
    if not able.schema:
        raise ModelUnavailable(
            f"the roles need schema-constrained output, which the engine of {name!r} does not offer; "
            "use the engine 'llama', or a server with json_schema response formats such as vLLM"
        )
    if "likelihood" in settings.navigation.scorer and not able.prompt_logprobs:
        raise ModelUnavailable(
            f"navigation.scorer 'likelihood' needs prompt log-probabilities, which the engine of {name!r} "
            "does not offer; serve the model with vLLM, or choose another scorer"
        )
    needs = {
        "navigation.scorer": "cross-encoder" in settings.navigation.scorer,
        "retriever.ranker": settings.retriever.ranker in ("cross-encoder", "fusion"),
        "verifier.rule": settings.verifier.rule in ("coverage", "both"),
    }
    if runtime.cross_encoder is None and any(needs.values()):
        who = ", ".join(key for key, needed in needs.items() if needed)
        raise ModelUnavailable(f"{who} needs a cross-encoder, but cross_encoder.engine is 'none'")


def open_backend(settings: LanguageModelSettings, part: str) -> Backend:
    """Open the engine of a language model. `part` names the branch of the settings, for messages and variables."""
    if settings.engine == "server":
        return _open_server(settings, part)
    if settings.engine == "llama":
        return _open_llama(settings)
    raise ModelUnavailable(f"{part}.engine {settings.engine!r} is opened by tests alone; use 'llama' or 'server'")


def _open_llama(settings: LanguageModelSettings) -> Backend:
    from programs.models.catalogue import find
    from programs.models.llama import LlamaBackend
    from programs.models.weights import fetch

    entry = find(settings.model)
    return LlamaBackend(
        fetch(settings.model),
        model=settings.model,
        parameters=settings.parameters or (entry.parameters if entry else None),
        context=settings.context,
        parallel=settings.parallel,
        threads=settings.threads,
        reuse_prefix=settings.reuse_prefix,
    )


def _open_server(settings: LanguageModelSettings, part: str) -> Backend:
    from programs.models.server import ServerBackend

    variable = f"STATERAG_{part.upper()}_URL"
    url = os.environ.get(variable) or settings.base_url
    if not url:
        raise ModelUnavailable(
            f"no endpoint for {settings.model!r}: set {variable} (for example http://127.0.0.1:8000) or {part}.base_url"
        )
    return ServerBackend(
        url,
        settings.model,
        api_key=os.environ.get(settings.api_key_env) if settings.api_key_env else None,
        context=settings.context,
        parameters=settings.parameters,
        timeout=settings.timeout,
        retries=settings.retries,
    )


def open_encoder(settings: EncoderSettings) -> Encoder:
    """Open the encoder, with its vectors kept on disk."""
    from programs.models.vectors import CachedEncoder

    if settings.engine == "onnx":
        from programs.models.onnx_encoder import OnnxEncoder

        return CachedEncoder(OnnxEncoder(settings.model))
    if settings.engine == "sentence-transformers":
        from programs.models.sentence_encoder import SentenceEncoder

        return CachedEncoder(SentenceEncoder(settings.model))
    from programs.models.scripted import HashedEncoder

    return HashedEncoder()


def open_cross_encoder(settings: CrossEncoderSettings) -> CrossEncoder | None:
    """Open the cross-encoder, if there is to be one."""
    if settings.engine == "none":
        return None
    if settings.engine == "overlap":
        from programs.models.scripted import OverlapCrossEncoder

        return OverlapCrossEncoder()
    from programs.models.cross_encoder import OnnxCrossEncoder
    from programs.models.vectors import CachedCrossEncoder

    return CachedCrossEncoder(OnnxCrossEncoder(settings.model))
