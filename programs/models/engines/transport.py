"""HTTP to a model server. Faults of transport are tried again a bounded number of times; nothing else ever is."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import httpx
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential_jitter

from programs.errors import ContextOverflow, InputError, ModelUnavailable, TransportFault
from programs.models.engines.wire import error_message

T = TypeVar("T")
OVERFLOW_SIGNS = ("context length", "context_length", "context size", "context_size")
UNSUPPORTED_SIGNS = ("not supported", "unsupported", "is supported", "invalid utf-8")
"""How llama.cpp's server words, with status 500, that it does not offer something, or can't write what it would answer:
no fault, so not tried again."""
UNREADABLE = (ValueError, KeyError, TypeError, IndexError)
"""What reading a body of another shape raises."""


class Transport:
    """One endpoint: connection refused or reset, timeouts, 5xx, 429 and unreadable bodies count as its faults."""

    def __init__(self, url: str, api_key: str | None, timeout: float, retries: int) -> None:
        self._url = url
        self._key = api_key
        self._retries = retries
        try:
            self._client = httpx.Client(
                base_url=url,
                headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
                timeout=timeout,
                limits=httpx.Limits(max_connections=None),
                trust_env=not is_loopback(httpx.URL(url).host),  # a proxy is for what is not on this machine
            )
        except httpx.InvalidURL as error:
            raise InputError(f"{url!r} is not an address of a model server, such as http://127.0.0.1:8000") from error

    def get(self, path: str, read: Callable[[Any], T]) -> tuple[T, int]:
        """Fetch and read; answer with the number of retries that it took."""
        return self._send("GET", path, None, read)

    def post(self, path: str, body: dict[str, Any], read: Callable[[Any], T]) -> tuple[T, int]:
        """Send and read; answer with the number of retries that it took."""
        return self._send("POST", path, body, read)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _send(self, method: str, path: str, body: Any, read: Callable[[Any], T]) -> tuple[T, int]:
        trying = Retrying(
            retry=retry_if_exception_type(TransportFault),
            stop=stop_after_attempt(self._retries + 1),
            wait=wait_exponential_jitter(multiplier=0.25, max=8.0, jitter=0.25),
            reraise=True,
        )
        try:
            result = trying(self._once, method, path, body, read)
        except TransportFault as fault:
            raise TransportFault(f"{fault} (after {self._retries} retries)", self._retries) from fault
        return result, trying.statistics["attempt_number"] - 1

    def _once(self, method: str, path: str, body: Any, read: Callable[[Any], T]) -> T:
        try:
            response = self._client.request(method, path, json=body)
        except httpx.TransportError as error:
            raise TransportFault(f"{method} {self._url}{path}: {error!r}") from error
        if not response.is_success:
            self._refuse(f"{method} {self._url}{path}", response)
        try:
            return read(response.json())
        except UNREADABLE as error:
            raise TransportFault(f"{method} {self._url}{path}: an answer that can't be read: {error!r}") from error

    def _refuse(self, where: str, response: httpx.Response) -> NoReturn:
        message = error_message(response)
        if self._key:
            message = message.replace(self._key, "…")
        unsupported = response.status_code == 501 or any(sign in message.lower() for sign in UNSUPPORTED_SIGNS)
        if response.status_code == 429 or (response.is_server_error and not unsupported):
            raise TransportFault(f"{where}: {response.status_code} {message}")
        if response.status_code in (400, 413) and any(sign in message.lower() for sign in OVERFLOW_SIGNS):
            raise ContextOverflow(message)
        remedy = "; check the key that the settings' api_key_env names" if response.status_code in (401, 403) else ""
        raise ModelUnavailable(f"{where} was refused: {response.status_code} {message}{remedy}")


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
