"""What leaves this machine passes here first: it is named on stderr, or refused where the user wants to be offline.

Whoever opens a connection calls `announce` before: the client of a model server, the downloads of weights, experiment
tracking. What stays on this machine passes without a word.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import SplitResult, urlsplit

from programs.errors import InputError

VARIABLE = "STATERAG_OFFLINE"
YES, NO = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")
PATIENCE = 5.0
"""Seconds in which an address must be found and take a connection."""
PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
UNASKED = {"LITELLM_LOCAL_MODEL_COST_MAP": "true", "HF_HUB_DISABLE_TELEMETRY": "1"}
"""What keeps libraries from fetching lists and reporting use by themselves. Who sets these otherwise is heard."""

_offline: ContextVar[bool] = ContextVar("offline", default=False)
_named: set[str] = set()


class Offline(InputError):
    """Something would leave the machine although the user wants to be offline."""


class Unreachable(Exception):
    """An address does not answer; says which and why."""


@dataclass(frozen=True)
class Outbound:
    """What goes where."""

    told: str
    """A sentence up to the address, such as 'reader: questions and evidence go to'."""
    address: str
    """A URL, or words where nobody knows one; words count as another machine."""
    instead: str = ""
    """How to do without, where whoever asks does not say that itself."""
    proxy: str | None = None
    """The proxy on the way, where that is not the environment's."""

    def __str__(self) -> str:
        proxy = self.proxy or proxy_of(self.address)
        return f"{self.told} {shown(self.address)}" + (f", through the proxy {shown(proxy)}" if proxy else "")


@contextmanager
def offline(wanted: bool = True) -> Iterator[None]:
    """Let nothing leave this machine within; if it is not wanted, leave that to whoever said so further out."""
    token = _offline.set(wanted or _offline.get())
    try:
        yield
    finally:
        _offline.reset(token)


def is_offline() -> bool:
    """Tell whether nothing may leave: by the option, or by the variable STATERAG_OFFLINE."""
    said = os.environ.get(VARIABLE, "").strip().lower()
    if said not in YES + NO:
        raise InputError(f"{VARIABLE} is {said!r}; set it to 1 or 0")
    return _offline.get() or said in YES


def announce(outbound: Outbound) -> None:
    """Name what is about to leave, once in a process, or raise `Offline`."""
    if is_local(outbound.address):
        return
    line = str(outbound)
    if is_offline():
        remedy = f"; {outbound.instead}" if outbound.instead else ""
        raise Offline(f"{line}, and --offline (or {VARIABLE}) lets nothing leave this machine{remedy}")
    if line not in _named:
        _named.add(line)
        print(line, file=sys.stderr, flush=True)


def quiet_libraries() -> None:
    """Keep libraries from using the network without being asked; nobody could name that first."""
    for name, value in UNASKED.items():
        os.environ.setdefault(name, value)


def is_local(address: str) -> bool:
    """Tell whether an address is on this machine: loopback, or a file."""
    url = _split(address)
    return url.scheme == "file" or is_loopback(url.hostname or "")


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def proxy_of(address: str) -> str | None:
    """Give the proxy that the environment names for an address; there is none for what is on this machine."""
    from urllib.request import getproxies, proxy_bypass

    url = _split(address)
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not url.hostname or is_local(address) or not proxy or proxy_bypass(url.netloc.rpartition("@")[2]):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def shown(address: str) -> str:
    """Write an address without the passwords and keys that it may carry, and without control characters."""
    url = _split(address)
    if url.hostname:
        address = url._replace(netloc=url.netloc.rpartition("@")[2], query="", fragment="").geturl()
    return "".join(mark if mark.isprintable() else "?" for mark in address)


def _split(address: str) -> SplitResult:
    """Take an address apart; one that is none has no host, and so is nowhere on this machine."""
    try:
        url = urlsplit(address)
        _ = url.port
    except ValueError:
        return SplitResult("", "", "", "", "")
    return url


def origin(address: str) -> str:
    """Give the part of an address that says which machine it is on."""
    return _split(address)._replace(path="", query="", fragment="").geturl() or address


def client_options(address: str) -> dict[str, Any]:
    """Give what an httpx client needs to take the proxy that was named, and certificates as the environment says."""
    import httpx

    options: dict[str, Any] = {"trust_env": False, "proxy": proxy_of(address), "follow_redirects": False}
    if not is_local(address):
        options["verify"] = httpx.create_ssl_context()
    return options


def reach(address: str, proxy: str | None = None) -> None:
    """Find out in a few seconds whether an address, or the proxy on the way to it, takes connections.

    The system may spend half a minute on looking a name up, which nothing can break off: so a thread waits for it.
    """
    place = _split(proxy or proxy_of(address) or address)
    host, port = place.hostname or "", place.port or PORTS.get(place.scheme, 80)
    answers: SimpleQueue[Exception | None] = SimpleQueue()
    threading.Thread(target=_look_up, args=(host, port, answers), daemon=True).start()
    try:
        fault = answers.get(timeout=PATIENCE)
    except Empty:
        raise Unreachable(f"{shown(place.geturl())} does not answer within {PATIENCE:.0f} seconds") from None
    if fault is not None:
        raise Unreachable(f"{shown(place.geturl())} can't be reached ({fault})") from fault


def _look_up(host: str, port: int, answers: SimpleQueue[Exception | None]) -> None:
    """Knock at every address of a host at once, since some may lead nowhere; the first that opens is the answer."""
    faults: list[Exception] = []

    def knock(place: tuple[Any, ...]) -> None:
        try:
            socket.create_connection(place[:2], timeout=PATIENCE).close()
            answers.put(None)
        except OSError as fault:
            faults.append(fault)

    try:
        places = {found[4] for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError) as fault:
        answers.put(fault)
        return
    knocks = [threading.Thread(target=knock, args=(place,), daemon=True) for place in places]
    for thread in knocks:
        thread.start()
    for thread in knocks:
        thread.join()
    answers.put(faults[0] if faults else None)
