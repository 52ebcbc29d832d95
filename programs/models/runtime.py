"""The models of a run, opened once from its settings and shared by every query, role and copy of a program."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import dspy

from programs.errors import ModelUnavailable
from programs.models.encoders.encoder import CrossEncoder, Encoder
from programs.models.engines.engine import Engine
from programs.models.language_model import LanguageModel
from programs.models.network import announce, is_offline, quiet_libraries
from programs.registry import Registry
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

    def behind(self, around: Callable[[Engine], Engine]) -> Runtime:
        """Give the same with an engine put before each of its engines; one that both models share stays one."""
        auxiliary = LanguageModel(around(self.auxiliary.engine))
        reader = auxiliary if self.reader is self.auxiliary else LanguageModel(around(self.reader.engine))
        return replace(self, auxiliary=auxiliary, reader=reader)

    def close(self) -> None:
        """Close the engines."""
        for model in {id(m): m for m in (self.reader, self.auxiliary)}.values():
            model.engine.close()


def open_runtime(
    settings: Settings, reader: dspy.BaseLM | None = None, auxiliary: dspy.BaseLM | None = None
) -> Runtime:
    """Load the models, and refuse at once what the settings need and a model can't do.

    A model that is handed in serves in place of the settings' own, which is then not loaded. What would go to another
    machine is named, or refused where the user is offline, before the first is loaded.
    """
    announce_models(settings, reader, auxiliary)
    second = _language_model(settings.auxiliary, "auxiliary", auxiliary)
    same = (
        settings.reader == settings.auxiliary
        and reader is auxiliary
        and _endpoint(settings.reader, "reader") == _endpoint(settings.auxiliary, "auxiliary")
    )
    first = second if same else _language_model(settings.reader, "reader", reader)
    runtime = Runtime(
        settings=settings,
        reader=first,
        auxiliary=second,
        encoder=open_encoder(settings.encoder),
        cross_encoder=open_cross_encoder(settings.cross_encoder),
    )
    check_capabilities(runtime)
    return runtime


def open_unasked(settings: Settings) -> Runtime:
    """Load the encoders alone, for a plan: language models are named and not asked, so no server has to be there."""
    from programs.models.engines.unasked import UnaskedEngine
    from programs.models.weights.catalogue import find

    encoder = open_encoder(settings.encoder)

    def named(model: LanguageModelSettings) -> LanguageModel:
        entry = find(model.model)
        size = model.parameters or (entry.parameters if entry else None)
        return LanguageModel(UnaskedEngine(model.model, size, model.context, lambda text: len(encoder.spans(text))))

    return Runtime(
        settings=settings,
        reader=named(settings.reader),
        auxiliary=named(settings.auxiliary),
        encoder=encoder,
        cross_encoder=open_cross_encoder(settings.cross_encoder),
    )


def announce_models(settings: Settings, reader: dspy.BaseLM | None, auxiliary: dspy.BaseLM | None) -> None:
    """Name what goes to model servers; where the user is offline, also see that all weights are here."""
    quiet_libraries()
    for part, handed in (("auxiliary", auxiliary), ("reader", reader)):
        announce_language_model(getattr(settings, part), part, handed)
    if is_offline():
        for encoder in (settings.encoder, settings.cross_encoder):
            _find_weights(encoder.engine, encoder.model)


def announce_language_model(settings: LanguageModelSettings, part: str, handed: dspy.BaseLM | None = None) -> None:
    """Name what goes to a model's server, if it has one; where the user is offline, see that its weights are here."""
    if handed is not None:
        from programs.models.engines.dspy_engine import outbound as to_provider

        announce(to_provider(part, handed))
    elif url := _endpoint(settings, part):
        from programs.models.engines.server import outbound as to_server
        from programs.models.engines.transport import check_address

        check_address(url)
        announce(to_server(part, url))
    elif is_offline():
        _find_weights(settings.engine, settings.model)


def _find_weights(engine: str, model: str) -> None:
    """Find weights that an engine of ours will read. Offline, this fetches nothing and says what is missing."""
    if engine == "sentence-transformers":
        from programs.models.encoders.sentence_encoder import find_weights

        find_weights(model)
    elif engine in ("llama", "onnx"):
        from programs.models.weights.fetch import fetch

        fetch(model)


def check_capabilities(runtime: Runtime) -> None:
    """Say what is missing before the first query, not in the middle of one."""
    settings = runtime.settings
    able = runtime.auxiliary.engine.capabilities
    name = runtime.auxiliary.model
    if settings.lifecycle.constrained and not able.schema:
        raise ModelUnavailable(
            f"the roles need schema-constrained output, which the engine of {name!r} does not offer; "
            "use the engine 'llama', or a server with json_schema response formats such as vLLM, or only describe "
            "the schemas with --set lifecycle.constrained=false"
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


def required_cross_encoder(method: str, runtime: Runtime) -> CrossEncoder:
    """Give the cross-encoder, or refuse a method that ranks with one."""
    if runtime.cross_encoder is None:
        raise ModelUnavailable(
            f"{method} ranks with a cross-encoder but cross_encoder.engine is 'none'; name one, "
            "for example --set cross_encoder.engine=onnx"
        )
    return runtime.cross_encoder


def open_engine(settings: LanguageModelSettings, part: str) -> Engine:
    """Open the engine of a language model. `part` names the branch of the settings, for messages and variables."""
    return ENGINES.get(settings.engine)(settings, part)


def open_encoder(settings: EncoderSettings) -> Encoder:
    """Open the encoder."""
    return ENCODERS.get(settings.engine)(settings)


def open_cross_encoder(settings: CrossEncoderSettings) -> CrossEncoder | None:
    """Open the cross-encoder, if there is to be one."""
    return CROSS_ENCODERS.get(settings.engine)(settings)


def _language_model(settings: LanguageModelSettings, part: str, handed: dspy.BaseLM | None) -> LanguageModel:
    if handed is None:
        return LanguageModel(open_engine(settings, part))
    from programs.models.engines.dspy_engine import DspyEngine

    return LanguageModel(DspyEngine(handed, settings.context, settings.parameters))


ENGINES: Registry[Callable[[LanguageModelSettings, str], Engine]] = Registry("engine", "staterag.engines")
ENCODERS: Registry[Callable[[EncoderSettings], Encoder]] = Registry("encoder", "staterag.encoders")
CROSS_ENCODERS: Registry[Callable[[CrossEncoderSettings], CrossEncoder | None]] = Registry(
    "cross-encoder", "staterag.cross_encoders"
)


@ENGINES.register("llama")
def _open_llama(settings: LanguageModelSettings, part: str) -> Engine:
    from programs.models.engines.llama import LlamaEngine
    from programs.models.weights.catalogue import find
    from programs.models.weights.fetch import fetch

    entry = find(settings.model)
    return LlamaEngine(
        fetch(settings.model),
        model=settings.model,
        parameters=settings.parameters or (entry.parameters if entry else None),
        context=settings.context,
        parallel=settings.parallel,
        threads=settings.threads,
        reuse_prefix=settings.reuse_prefix,
    )


@ENGINES.register("server")
def _open_server(settings: LanguageModelSettings, part: str) -> Engine:
    from programs.models.engines.server import ServerEngine

    url = _endpoint(settings, part)
    if not url:
        raise ModelUnavailable(
            f"no endpoint for {settings.model!r}: set {_url_variable(part)} (for example http://127.0.0.1:8000) "
            f"or {part}.base_url"
        )
    return ServerEngine(
        url,
        settings.model,
        api_key=os.environ.get(settings.api_key_env) if settings.api_key_env else None,
        context=settings.context,
        parameters=settings.parameters,
        timeout=settings.timeout,
        retries=settings.retries,
        part=part,
    )


def _endpoint(settings: LanguageModelSettings, part: str) -> str | None:
    """The address of a part's server, if it has one; the environment comes before the settings."""
    return os.environ.get(_url_variable(part)) or settings.base_url if settings.engine == "server" else None


def _url_variable(part: str) -> str:
    return f"STATERAG_{part.upper()}_URL"


@ENCODERS.register("onnx")
def _open_onnx_encoder(settings: EncoderSettings) -> Encoder:
    from programs.models.cache.vectors import CachedEncoder
    from programs.models.encoders.onnx_encoder import OnnxEncoder

    return CachedEncoder(OnnxEncoder(settings.model))


@ENCODERS.register("sentence-transformers")
def _open_sentence_encoder(settings: EncoderSettings) -> Encoder:
    from programs.models.cache.vectors import CachedEncoder
    from programs.models.encoders.sentence_encoder import SentenceEncoder

    return CachedEncoder(SentenceEncoder(settings.model))


@CROSS_ENCODERS.register("onnx")
def _open_onnx_cross_encoder(settings: CrossEncoderSettings) -> CrossEncoder:
    from programs.models.cache.vectors import CachedCrossEncoder
    from programs.models.encoders.cross_encoder import OnnxCrossEncoder

    return CachedCrossEncoder(OnnxCrossEncoder(settings.model))


@CROSS_ENCODERS.register("none")
def _no_cross_encoder(settings: CrossEncoderSettings) -> None:
    return None
