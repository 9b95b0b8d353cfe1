"""Carries webhooks over HTTP/1.1, to public addresses only.

A name is resolved once per attempt, all its addresses are judged, and the connection goes to one
of those very addresses, so a name that changes its mind in between gains nothing. TLS
still names, and checks the certificate of, the host in the URL. Proxies of the environment are
not asked. One deadline covers everything from the look-up of the name to the answer's last byte.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import cached_property
from http.client import HTTPConnection, HTTPException
from io import BufferedReader, RawIOBase
from threading import Thread
from typing import Any

from souvenance.domain.webhooks import SIGNATURE_HEADER, Destination, destination, is_public
from souvenance.errors import InvalidInput
from souvenance.ports.webhook_sender import Undelivered, WebhookDelivery
from souvenance.version import __version__

Resolver = Callable[[str, int], list[str]]
"""From a host name and port to IP addresses. Raises: OSError."""

_MOST_ADDRESSES = 4
_MOST_ANSWER = 64 * 1024
_WORTH_RETRYING = {408, 429}


def system_addresses(host: str, port: int) -> list[str]:
    """What this machine's resolver says, without repetition."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class HttpWebhookSender:
    """A `WebhookSender`. `allow_private` also lets it go to this machine and its neighbours."""

    def __init__(
        self,
        *,
        allow_private: bool = False,
        resolve: Resolver = system_addresses,
        trust: ssl.SSLContext | None = None,
        seconds: float = 10.0,
    ) -> None:
        self._allow_private = allow_private
        self._resolve = resolve
        self._trust = trust
        self._seconds = seconds

    def check(self, url: str) -> str:
        return destination(url, allow_private=self._allow_private).url

    def deliver(self, parcel: WebhookDelivery) -> None:
        deadline = _Deadline(self._seconds)
        try:
            place = destination(parcel.url, allow_private=self._allow_private)
            wire = self._connected(place, self._addresses(place, deadline), deadline)
            try:
                status = _answer(wire, place, parcel)
            finally:
                wire.hang_up()
        except InvalidInput as refused:
            raise Undelivered(refused.detail, retry=False) from None
        except TimeoutError:
            raise Undelivered("the receiver took too long", retry=True) from None
        except ssl.SSLCertVerificationError as error:
            raise Undelivered(f"the certificate is not valid: {error.verify_message}", retry=True) from None
        except (OSError, HTTPException) as error:
            raise Undelivered(f"no answer: {type(error).__name__}", retry=True) from None
        if not 200 <= status < 300:
            retry = not 400 <= status < 500 or status in _WORTH_RETRYING
            raise Undelivered(f"the receiver answered {status}", retry=retry)

    def _addresses(self, place: Destination, deadline: _Deadline) -> list[str]:
        if place.is_address:
            return [place.host]
        found = _in_time(lambda: self._resolve(place.host, place.port), deadline)
        if not found:
            raise Undelivered("the host has no address", retry=True)
        if not self._allow_private and not all(map(is_public, found)):
            raise Undelivered("the host has an address that is not public", retry=False)
        return found[:_MOST_ADDRESSES]

    def _connected(self, place: Destination, addresses: list[str], deadline: _Deadline) -> _Wire:
        failure = OSError("no address")
        for remaining, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
            try:
                line = _dialled(address, place.port, deadline.left() / remaining)
            except OSError as error:
                failure = error
            else:
                return _Wire(self._secured(line, place, deadline), deadline)
        raise failure

    def _secured(self, line: socket.socket, place: Destination, deadline: _Deadline) -> socket.socket:
        if place.scheme == "http":
            return line
        try:
            line.settimeout(deadline.left())
            return self._tls.wrap_socket(line, server_hostname=place.host)
        except OSError:
            line.close()
            raise

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return self._trust or ssl.create_default_context()


class _Deadline:
    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds, more than none. Raises: TimeoutError."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


class _Wire:
    """As much of a socket as `http.client` uses, where each step has only what is left of the time."""

    def __init__(self, line: socket.socket, deadline: _Deadline) -> None:
        self._line = line
        self._deadline = deadline

    def sendall(self, data: Any) -> None:
        self._line.settimeout(self._deadline.left())
        self._line.sendall(data)

    def makefile(self, _mode: str) -> BufferedReader:
        return BufferedReader(_Incoming(self._line, self._deadline))

    def close(self) -> None:
        """Nothing: `http.client` closes before it reads an answer that ends with the connection."""

    def hang_up(self) -> None:
        self._line.close()


class _Incoming(RawIOBase):
    def __init__(self, line: socket.socket, deadline: _Deadline) -> None:
        self._line = line
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._line.settimeout(self._deadline.left())
        return self._line.recv_into(buffer)


def _dialled(address: str, port: int, seconds: float) -> socket.socket:
    line = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        line.settimeout(seconds)
        line.connect((address, port))
    except OSError:
        line.close()
        raise
    return line


def _answer(wire: _Wire, place: Destination, parcel: WebhookDelivery) -> int:
    """Send the parcel; the status of the answer, whose body is read a little and dropped."""
    exchange = HTTPConnection(place.host, place.port)
    exchange.sock = wire
    headers = {
        "Host": place.authority,
        "Content-Type": "application/json",
        "User-Agent": f"souvenance/{__version__}",
        "Connection": "close",
        **dict(parcel.headers),
        SIGNATURE_HEADER: parcel.signature,
    }
    exchange.request("POST", place.target, parcel.body, headers)
    answer = exchange.getresponse()
    try:
        answer.read(_MOST_ANSWER)
    except (OSError, HTTPException):
        return answer.status
    return answer.status


def _in_time(work: Callable[[], list[str]], deadline: _Deadline) -> list[str]:
    """The work's result; left to itself in its own thread when it takes too long, as a look-up may."""
    result: Future[list[str]] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except Exception as error:  # noqa: BLE001 - it is raised again where the result is awaited
            result.set_exception(error)

    Thread(target=run, name="souvenance-resolve", daemon=True).start()
    return result.result(deadline.left())
