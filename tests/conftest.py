"""What holds for every test: no clock decides, and no line breaks where a message is looked for."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from programs.commands.terminal import err, out
from programs.models import network
from programs.models.network import is_loopback

settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A width of the environment is fixed when a console is made, so the consoles are told theirs."""
    for console in (out, err):
        monkeypatch.setattr(console, "_width", 400)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home folder without an account of W&B, and an environment that says nothing of one."""
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    for name in [name for name in os.environ if name.startswith("WANDB_") and name != "WANDB_SERVICE"]:
        monkeypatch.delenv(name)
    return place


@pytest.fixture
def nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was named yet, and no environment says where to go, or that nothing may."""
    monkeypatch.setattr(network, "_named", set())
    for name in (network.VARIABLE, "STATERAG_READER_URL", "STATERAG_AUXILIARY_URL", "WANDB_MODE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def tried(nothing_named: None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Everything that would leave this machine, in order, beside what is said on stderr; none of it gets away."""
    events: list[str] = []
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self, address):
        if isinstance(address, tuple) and not is_loopback(address[0]):
            events.append(f"connects to {address[0]}")
            raise OSError("this test has no network")
        return connect(self, address)

    def guarded_look_up(host, *arguments, **options):
        if host and not is_loopback(host if isinstance(host, str) else host.decode()):
            events.append(f"looks up {host}")
            raise socket.gaierror("this test has no network")
        return look_up(host, *arguments, **options)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_look_up)
    return events


@pytest.fixture
def said(tried: list[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let what is said on stderr stand in the same order."""

    def say(line, file, flush):
        assert (file, flush) == (sys.stderr, True)
        tried.append(line)

    monkeypatch.setattr(network, "print", say, raising=False)
    return tried
