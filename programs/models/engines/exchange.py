"""One request and its whole answer, bounded in seconds and in bytes whatever the other side does."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import CancelledError
from typing import Any, TypeVar

import httpx

from programs.errors import TransportFault
from programs.models.network import PATIENCE, client_options

T = TypeVar("T")
MOST_BYTES = 8 << 20
"""Of an answer. The log-probabilities of a prompt of 100,000 tokens take less."""
MOST_ERROR_BYTES = 64 << 10
"""Of a refusal, of which a sentence is shown; the rest is not read."""
MOST_VALUES = 400_000
"""Of an answer: in memory, a value takes many times the two characters that it may have on the wire."""


class Exchanges:
    """The connections to one endpoint.

    They live on an event loop of their own, where a deadline can break off whatever is being waited for: the lookup of
    a name, a handshake, headers or a body that come a byte at a time.
    """

    def __init__(self, url: str, headers: Mapping[str, str], seconds: float) -> None:
        self._seconds = seconds
        self._client = httpx.AsyncClient(
            base_url=url,
            headers={"Accept-Encoding": "identity", **headers},
            timeout=httpx.Timeout(None, connect=min(PATIENCE, seconds)),
            limits=httpx.Limits(max_connections=None),
            **client_options(url),
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"exchanges {url}", daemon=True)
        self._thread.start()

    def run(self, method: str, path: str, body: Any) -> httpx.Response:
        """Send a request and give the whole answer; of a refusal, its beginning. Raises `TransportFault`."""
        try:
            return self._wait(self._exchange(method, path, body))
        except TimeoutError as error:
            raise TransportFault(f"no whole answer within {self._seconds:g} seconds") from error
        except httpx.TransportError as error:
            raise TransportFault(repr(error)) from error
        except CancelledError as error:
            raise TransportFault("the connections are closed") from error

    def close(self) -> None:
        """Break off what is under way and close the connections. A second close is nothing."""
        if not self._loop.is_closed():
            self._wait(self._end())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Have the loop do it. Ctrl-C breaks it off, and the connection with it."""
        if self._loop.is_closed():
            work.close()
            raise CancelledError
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def _exchange(self, method: str, path: str, body: Any) -> httpx.Response:
        async with asyncio.timeout(self._seconds), self._client.stream(method, path, json=body) as response:
            most = MOST_BYTES if response.is_success else MOST_ERROR_BYTES
            content = bytearray()
            async for chunk in response.aiter_raw():
                content += chunk
                if len(content) > most:
                    break
            if response.is_success and len(content) > most:
                raise TransportFault(f"an answer of more than {MOST_BYTES >> 20} MB, which is not read further")
            told = {name: value for name, value in response.headers.items() if name in ("retry-after", "location")}
            return httpx.Response(response.status_code, headers=told, content=bytes(content[:most]))

    async def _end(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._client.aclose()


def read_json(content: bytes) -> Any:
    """Read JSON that a stranger wrote; half a character in it is for the completion to mend.

    Raises a `ValueError` that says what is wrong, or the parser's own `RecursionError`.
    """
    values = sum(content.count(mark) for mark in (b",", b"[", b"{"))
    if values > MOST_VALUES:
        raise ValueError(f"JSON of {values:,} values, where {MOST_VALUES:,} are read")
    return json.loads(content)
