"""A model server on a real socket that answers as a test tells it to: well, badly, late or not at all."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from programs.models.engines.wire import schema_probe

MODELS = {"data": [{"id": "tiny", "max_model_len": 256}, {"id": "other"}]}
PATIENCE = {"hangs": 1.0, "trickles": 1.0, "trickles headers": 1.0}
"""Seconds before a request is given up; 30 where no test waits for it, so that a busy machine is no fault."""
Answer = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


def send(handler: BaseHTTPRequestHandler, body: Any, status: int = 200) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(raw)))
    handler.end_headers()
    handler.wfile.write(raw)


def completion(text: Any, tokens: float = 3) -> dict[str, Any]:
    return {
        "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": tokens},
    }


def well(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    send(handler, completion("fine"))


def status(code: int, message: str = "no") -> Answer:
    return lambda handler, body: send(handler, {"error": {"message": message}}, code)


def hangs(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    time.sleep(PATIENCE["hangs"] + 1)
    handler.close_connection = True


def breaks_off(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.close_connection = True


def closes(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    handler.close_connection = True


def junk(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    send(handler, b"<html>a proxy says hello</html>")


def other_shape(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    send(handler, {"choices": []})


def trickles(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """Send an answer so slowly that no single wait is long."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    drip(handler, b" ")


def trickles_headers(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    handler.send_response(200)
    handler.flush_headers()
    handler.wfile.write(b"X-Slow: ")
    drip(handler, b"y")


def drip(handler: BaseHTTPRequestHandler, drop: bytes) -> None:
    """Give a drop at a time until nobody listens."""
    with suppress(OSError):
        while True:
            handler.wfile.write(drop)
            time.sleep(0.1)
    handler.close_connection = True


def streams(total: int, status: int = 200, chunk: bytes = b" " * 65536) -> Answer:
    """Send a body of so many bytes, as far as anyone takes it."""

    def answer(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(total))
        handler.end_headers()
        with suppress(OSError):
            for _ in range(total // len(chunk)):
                handler.wfile.write(chunk)
        handler.close_connection = True

    return answer


def headed(code: int, **headers: str) -> Answer:
    """Refuse with headers, in whose names an underscore stands for a hyphen."""

    def answer(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        handler.send_response(code)
        for name, value in {**headers, "Content-Length": "0"}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()

    return answer


FAULTS = {
    "500": status(500),
    "503": status(503),
    "429": status(429),
    "hangs": hangs,
    "breaks off": breaks_off,
    "closes": closes,
    "junk": junk,
    "another shape": other_shape,
    "trickles": trickles,
    "trickles headers": trickles_headers,
    "too large": streams(16 << 20),
    "deep": lambda handler, body: send(handler, b"[" * 100_000 + b"]" * 100_000),
    "infinite tokens": lambda handler, body: send(handler, completion("fine", tokens=float("inf"))),
    "no text": lambda handler, body: send(handler, completion(["fine"])),
}


@dataclass
class Endpoint:
    """A server whose answers to chat completions are played in turn; the last repeats."""

    url: str = ""
    answers: list[Answer] = field(default_factory=lambda: [well])
    seen: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    keeps_to_schemas: bool = True
    tokenize: Answer = field(default_factory=lambda: status(404))
    models: Answer = field(default_factory=lambda: lambda handler, body: send(handler, MODELS))

    def chat(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        if body["messages"] == schema_probe("tiny")["messages"]:
            send(handler, completion('{"word": "qz7"}' if self.keeps_to_schemas else "Hello!"))
            return
        self.seen.append(body)
        self.answers[min(len(self.seen), len(self.answers)) - 1](handler, body)


@contextmanager
def served(endpoint: Endpoint) -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            endpoint.keys.append(self.headers["Authorization"])
            endpoint.models(self, {})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            routes = {"/v1/chat/completions": endpoint.chat, "/tokenize": endpoint.tokenize}
            routes.get(self.path, status(404))(self, body)

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield endpoint
    server.shutdown()
    server.server_close()
