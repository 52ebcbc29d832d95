"""Which models a run names, down to the hashes of files."""

from __future__ import annotations

import hashlib

import pytest

from programs.errors import InputError
from programs.models.identity import model_identities
from programs.models.network import offline
from programs.settings import load_settings

SERVED = ["reader.engine=server", "auxiliary.engine=server", "cross_encoder.engine=none"]


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """A hub's cache with one encoder in it."""
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    model = tmp_path / "models--someone--encoder"
    folder = model / "snapshots" / "0123abcd"
    (folder / "1_Pooling").mkdir(parents=True)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text("0123abcd")
    (folder / "config.json").write_text("{}")
    (folder / "1_Pooling" / "config.json").write_text('{"pooling": "mean"}')
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def encoder_of(name):
    settings = load_settings("paper", [*SERVED, f"encoder.model={name}"])
    return next(entry for entry in model_identities(settings) if entry.part == "encoder")


def test_an_encoder_of_the_hub_is_named_by_the_hashes_of_its_files(cached):
    entry = encoder_of("someone/encoder")
    assert entry.model == "someone/encoder"
    assert set(entry.sha256) == {"config.json", "1_Pooling/config.json", "model.safetensors"}
    assert entry.sha256["model.safetensors"] == hashlib.sha256(b"weights").hexdigest()


def test_an_encoder_that_is_neither_here_nor_may_be_fetched_is_a_clear_error(cached):
    with offline(), pytest.raises(InputError, match="give a folder with the model"):
        encoder_of("someone/other")


def test_a_folder_of_ones_own_is_named_by_all_its_files(cached):
    assert set(encoder_of(str(cached)).sha256) == {"config.json", "1_Pooling/config.json", "model.safetensors"}


def test_a_server_shows_no_weights():
    settings = load_settings("paper", [*SERVED, "encoder.engine=onnx", "encoder.model=bge-small-en-v1.5"])
    assert {entry.part for entry in model_identities(settings) if not entry.sha256} == {
        "reader",
        "auxiliary",
        "cross_encoder",
    }
