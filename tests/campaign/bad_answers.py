"""The ways in which a model server can answer badly, each on a connection of its own."""

from __future__ import annotations

import gzip
import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

HANG = 3.0
"""Seconds without a word; more than any client here waits."""
DRIP, DRIPS = 0.1, 60
"""A byte so often, so many times."""
PIECE, PIECES = b" " * 2**20, 96
"""What an answer without an end consists of, and how much of it is sent to who takes it all."""
HUGE = 10**30


@dataclass
class Spoken:
    """What a server said that a client may or must be charged for: each answer has a number of tokens of its own."""

    tokens: list[int] = field(default_factory=list)
    """Of every answer that could be read as one."""
    good: list[int] = field(default_factory=list)
    """Of those that nothing was wrong with."""
    complaints: list[str] = field(default_factory=list)
    """What a client should not have put up with."""
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, text: str | None, good: bool = True) -> dict[str, Any]:
        """A whole answer, with its number of tokens noted."""
        with self._guard:
            number = 1000 + len(self.tokens)
            self.tokens.append(number)
            if good:
                self.good.append(number)
        return {
            "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 11, "completion_tokens": number},
        }


Fault = Callable[[BaseHTTPRequestHandler, str, Spoken], None]


def reply(
    handler: BaseHTTPRequestHandler, raw: bytes, status: int = 200, length: int | None = None, **headers: str
) -> None:
    """Answer and hang up, with headers that may lie."""
    handler.close_connection = True
    handler.send_response(status)
    told = {"Content-Length": str(len(raw) if length is None else length), "Connection": "close"}
    for name, value in (told | {name.replace("_", "-"): value for name, value in headers.items()}).items():
        handler.send_header(name, value)
    handler.end_headers()
    with suppress(OSError):
        handler.wfile.write(raw)


def said(change: Callable[[dict[str, Any]], Any]) -> Fault:
    """A good answer with something changed in it, for which nobody is to be charged."""

    def fault(handler: BaseHTTPRequestHandler, text: str, spoken: Spoken) -> None:
        body = Spoken().answer(text)
        reply(handler, json.dumps(change(body)).encode())

    return fault


def usage(prompt: Any, completion: Any) -> Fault:
    return said(lambda body: body | {"usage": {"prompt_tokens": prompt, "completion_tokens": completion}})


def status(code: int, **headers: str) -> Fault:
    return lambda handler, text, spoken: reply(handler, b'{"error": {"message": "no"}}', code, **headers)


def body(raw: bytes, **headers: str) -> Fault:
    return lambda handler, text, spoken: reply(handler, raw, **headers)


def resets(handler: BaseHTTPRequestHandler, text: str, spoken: Spoken) -> None:
    """Break off in the middle of the body, with a reset and not a goodbye."""
    reply(handler, b'{"choices": [', length=1000)
    handler.wfile.flush()
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def truncated(handler: BaseHTTPRequestHandler, text: str, spoken: Spoken) -> None:
    raw = json.dumps(Spoken().answer(text)).encode()
    reply(handler, raw[: len(raw) // 2])


def length_too_long(handler: BaseHTTPRequestHandler, text: str, spoken: Spoken) -> None:
    raw = json.dumps(Spoken().answer(text)).encode()
    reply(handler, raw, length=len(raw) + 500)


def length_too_short(handler: BaseHTTPRequestHandler, text: str, spoken: Spoken) -> None:
    raw = json.dumps(Spoken().answer(text)).encode()
    reply(handler, raw, length=len(raw) // 2)


def surrogate(handler: BaseHTTPRequestHandler, text: str, spoken: Spoken) -> None:
    """Half a character, where JSON can spell it and UTF-8 can't."""
    reply(handler, json.dumps(spoken.answer(text[: len(text) // 2] + "\ud83d" + text, good=False)).encode())


def two_choices(handler: BaseHTTPRequestHandler, text: str, spoken: Spoken) -> None:
    answer = spoken.answer(text, good=False)
    reply(handler, json.dumps(answer | {"choices": answer["choices"] * 2}).encode())


def no_text(handler: BaseHTTPRequestHandler, text: str, spoken: Spoken) -> None:
    reply(handler, json.dumps(spoken.answer(None, good=False)).encode())


def repeated_keys(handler: BaseHTTPRequestHandler, text: str, spoken: Spoken) -> None:
    raw = json.dumps(spoken.answer(text, good=False))
    reply(handler, ('{"choices": [], "usage": null, ' + raw[1:]).encode())


def tokens_as_text(handler: BaseHTTPRequestHandler, text: str, spoken: Spoken) -> None:
    """A client may read them or not."""
    answer = spoken.answer(text, good=False)
    counts = {name: str(number) for name, number in answer["usage"].items()}
    reply(handler, json.dumps(answer | {"usage": counts}).encode())


def hangs(handler: BaseHTTPRequestHandler, text: str, spoken: Spoken) -> None:
    handler.close_connection = True
    time.sleep(HANG)


def drips(handler: BaseHTTPRequestHandler, text: str, spoken: Spoken) -> None:
    """Send a byte now and then, so that no pause is ever long."""
    reply(handler, b"", length=10**6)
    try:
        for _ in range(DRIPS):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(DRIP)
    except OSError:
        return
    spoken.complaints.append(f"an answer of a byte every {DRIP} s was waited for, and for {DRIP * DRIPS:.0f} s")


def endless(handler: BaseHTTPRequestHandler, text: str, spoken: Spoken) -> None:
    """Send on and on."""
    handler.close_connection = True
    handler.send_response(200)
    handler.send_header("Connection", "close")
    handler.end_headers()
    try:
        for _ in range(PIECES):
            handler.wfile.write(PIECE)
    except OSError:
        return
    spoken.complaints.append(f"an answer of {PIECES} MB was taken whole")


FAULTS: dict[str, Fault] = {
    "reset in the body": resets,
    "500": status(500),
    "503": status(503),
    "429, retry after 1 s": status(429, Retry_After="1"),
    "429, retry after a year": status(429, Retry_After="31536000"),
    "429, retry after nonsense": status(429, Retry_After="soon"),
    "HTML": body(b"<html><body>a proxy says hello</body></html>", Content_Type="text/html"),
    "another shape": said(lambda answer: [answer]),
    "no choices": said(lambda answer: answer | {"choices": []}),
    "two choices": two_choices,
    "truncated JSON": truncated,
    "nested too deep": body(b"[" * 200_000),
    "a number of many digits": body(b'{"choices": ' + b"9" * 100_000 + b"}"),
    "half a character": surrogate,
    "no UTF-8": body(b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
    "no body": body(b""),
    "no text": no_text,
    "text of another type": said(
        lambda a: a | {"choices": [{"message": {"content": {"a": 1}}, "finish_reason": "stop"}]}
    ),
    "repeated keys": repeated_keys,
    "without an end": endless,
    "packed to burst": body(gzip.compress(b" " * 2**26), Content_Encoding="gzip"),
    "not packed as it says": body(b"plain", Content_Encoding="gzip"),
    "drop by drop": drips,
    "silence": hangs,
    "a length too long": length_too_long,
    "a length too short": length_too_short,
    "negative tokens": usage(-11, -3),
    "tokens without number": usage(float("nan"), float("inf")),
    "tokens beyond number": usage(HUGE, HUGE),
    "tokens as text": tokens_as_text,
    "a redirect": status(302, Location="http://127.0.0.1:9/"),
}
