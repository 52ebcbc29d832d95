"""HTTP to a model server. Faults of transport are tried again a bounded number of times; nothing else ever is."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn, TypeVar
from urllib.parse import urlsplit

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from programs.errors import ContextOverflow, InputError, ModelUnavailable, TransportFault
from programs.models.engines.exchange import Exchanges, read_json
from programs.models.engines.wire import error_message
from programs.models.network import Outbound, Unreachable, announce, is_local, reach, shown

T = TypeVar("T")
OVERFLOW_SIGNS = ("context length", "context_length", "context size", "context_size")
UNSUPPORTED_SIGNS = ("not supported", "unsupported", "is supported", "invalid utf-8")
"""How llama.cpp's server words, with status 500, that it does not offer something, or can't write what it would answer:
no fault, so not tried again."""
UNREADABLE = (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError)
"""What reading a body of another shape raises."""
MOST_WAIT = 60.0
"""Seconds that a server may have us wait before the next try. One that asks for more is not asked again."""
BACKOFF = wait_exponential_jitter(multiplier=0.25, max=8.0, jitter=0.25)


class Transport:
    """One endpoint: connection refused or reset, timeouts, 5xx, 429 and unreadable bodies count as its faults.

    Where it is on another machine, that is named before the first byte goes there. Redirects are not followed.
    """

    def __init__(
        self,
        outbound: Outbound,
        api_key: str | None,
        timeout: float,
        retries: int,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._url = shown(outbound.address)
        self._key = api_key
        self._retries = retries
        self._sleep = sleep
        self._answered = False
        check_address(outbound.address)
        announce(outbound)
        if not is_local(outbound.address):
            try:
                reach(outbound.address)
            except Unreachable as fault:
                raise ModelUnavailable(f"{fault}; start the model server, or correct its address") from fault
        try:
            headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
            self._exchanges = Exchanges(outbound.address, headers, timeout)
        except httpx.InvalidURL as error:
            raise InputError(not_an_address(self._url)) from error
        except UnicodeEncodeError as error:
            raise InputError("the key that api_key_env names has characters that no key has") from error
        except (ImportError, ValueError) as error:
            raise InputError(f"the proxy that the environment names for {self._url} can't be used: {error}") from error

    def get(self, path: str, read: Callable[[Any], T]) -> tuple[T, int]:
        """Fetch and read; answer with the number of retries that it took."""
        return self._send("GET", path, None, read)

    def post(self, path: str, body: dict[str, Any], read: Callable[[Any], T]) -> tuple[T, int]:
        """Send and read; answer with the number of retries that it took."""
        return self._send("POST", path, body, read)

    def close(self) -> None:
        """Close the connections."""
        self._exchanges.close()

    def _send(self, method: str, path: str, body: Any, read: Callable[[Any], T]) -> tuple[T, int]:
        trying = Retrying(
            retry=retry_if_exception(self._is_worth_a_retry),
            stop=stop_after_attempt(self._retries + 1),
            wait=wait,
            sleep=self._sleep,
            reraise=True,
        )
        try:
            result = trying(self._once, method, path, body, read)
        except TransportFault as fault:
            retries = trying.statistics["attempt_number"] - 1
            raise TransportFault(f"{fault} (after {retries} retries)", retries) from fault
        return result, trying.statistics["attempt_number"] - 1

    def _is_worth_a_retry(self, fault: BaseException) -> bool:
        """A server that never answered is more likely not there than busy."""
        return (
            isinstance(fault, TransportFault)
            and (fault.retry_after or 0.0) <= MOST_WAIT
            and (self._answered or not isinstance(fault.__cause__, httpx.ConnectError | httpx.ConnectTimeout))
        )

    def _once(self, method: str, path: str, body: Any, read: Callable[[Any], T]) -> T:
        where = f"{method} {self._url}{path}"
        try:
            response = self._exchanges.run(method, path, body)
        except TransportFault as fault:
            raise TransportFault(f"{where}: {fault}") from fault.__cause__
        self._answered = True
        if not response.is_success:
            self._refuse(where, response)
        try:
            return read(read_json(response.content))
        except UNREADABLE as error:
            raise TransportFault(f"{where}: an answer that can't be read: {error!r:.200}") from error

    def _refuse(self, where: str, response: httpx.Response) -> NoReturn:
        message = error_message(response)
        if self._key:
            message = message.replace(self._key, "…")
        unsupported = response.status_code == 501 or any(sign in message.lower() for sign in UNSUPPORTED_SIGNS)
        if response.status_code == 429 or (response.is_server_error and not unsupported):
            after = retry_after(response.headers.get("retry-after"), datetime.now(UTC))
            if after is not None and after > MOST_WAIT:
                message += f"; it asks for {after:.0f} s before the next try, and {MOST_WAIT:.0f} s are waited at most"
            raise TransportFault(f"{where}: {response.status_code} {message}", retry_after=after)
        if response.status_code in (400, 413) and any(sign in message.lower() for sign in OVERFLOW_SIGNS):
            raise ContextOverflow(message)
        remedy = "; check the key that the settings' api_key_env names" if response.status_code in (401, 403) else ""
        if response.has_redirect_location:
            remedy = f"; it redirects to {shown(response.headers['location'])}, which is not followed"
        raise ModelUnavailable(f"{where} was refused: {response.status_code} {message}{remedy}")


def wait(state: RetryCallState) -> float:
    """Wait as long as the server asks for, else a little longer each time."""
    fault = state.outcome.exception() if state.outcome else None
    asked = fault.retry_after if isinstance(fault, TransportFault) else None
    return BACKOFF(state) if asked is None else asked


def retry_after(header: str | None, now: datetime) -> float | None:
    """Read the header Retry-After, which has seconds or a date; None where it has neither."""
    said = (header or "").strip()
    if said.isascii() and said.isdecimal():
        return float(said[:12])
    try:
        date = parsedate_to_datetime(said)
    except (ValueError, OverflowError):
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds())


def check_address(url: str) -> None:
    """Refuse what can't be the address of a server."""
    try:
        place = urlsplit(url)
        usable = place.scheme in ("http", "https") and bool(place.hostname) and place.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InputError(not_an_address(shown(url)))


def not_an_address(url: str) -> str:
    """Say that the user's address is none."""
    return f"{url!r} is not an address of a model server, such as http://127.0.0.1:8000"
