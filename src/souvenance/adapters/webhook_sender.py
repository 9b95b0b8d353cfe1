"""Sends webhooks over HTTP/1.1, to public addresses only.

A name is resolved once per attempt, all its addresses are judged, and the connection goes to one
of those very addresses, so a name that changes in between gains nothing. TLS still names the host in the URL,
and checks its certificate. Proxies of the environment are not used. One deadline covers everything from the
look-up of the name to the status of the answer; what follows that is not read.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from http.client import HTTPConnection, HTTPException
from threading import Event, Thread

from souvenance.domain.webhooks import SIGNATURE_HEADER, Destination, destination, is_public
from souvenance.errors import InvalidInput
from souvenance.ports.webhook_sender import Undelivered, WebhookDelivery
from souvenance.version import __version__

Resolver = Callable[[str, int], list[str]]
"""From a host name and port to IP addresses. Raises: OSError."""

_MOST_ADDRESSES = 4
_WORTH_RETRYING = {408, 429}


def system_addresses(host: str, port: int) -> list[str]:
    """What this machine's resolver says, without repetition."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, kw_only=True)
class HttpWebhookSender:
    """A `WebhookSender`. `allow_private` also lets it go to this machine and its neighbours."""

    allow_private: bool = False
    resolve: Resolver = system_addresses
    trust: ssl.SSLContext | None = None
    seconds: float = 10.0

    def check(self, url: str) -> str:
        return destination(url, allow_private=self.allow_private).url

    def deliver(self, delivery: WebhookDelivery) -> None:
        try:
            status = self._in_time(delivery)
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

    def _in_time(self, delivery: WebhookDelivery) -> int:
        """The status of the answer. The attempt has a thread of its own, which is left when time is up."""
        result: Future[int] = Future()
        opened: list[socket.socket] = []
        over = Event()

        def attempt() -> None:
            try:
                result.set_result(self._status(delivery, opened, over))
            except Exception as error:  # noqa: BLE001 - it is raised again where the result is awaited
                result.set_exception(error)

        Thread(target=attempt, name="souvenance-webhook", daemon=True).start()
        try:
            return result.result(self.seconds)
        finally:
            over.set()
            for line in opened:
                with suppress(OSError):
                    line.shutdown(socket.SHUT_RDWR)
                line.close()

    def _status(self, delivery: WebhookDelivery, opened: list[socket.socket], over: Event) -> int:
        place = destination(delivery.url, allow_private=self.allow_private)
        line = self._connected(place, self._addresses(place))
        opened.append(line)
        if over.is_set():
            line.close()  # What comes too late is tried again, and must not arrive twice.
            raise TimeoutError
        if place.scheme == "https":
            line = self._tls.wrap_socket(line, server_hostname=place.host)
            opened.append(line)
        exchange = HTTPConnection(place.host, place.port)
        exchange.sock = line
        headers = {
            "Host": place.authority,
            "Content-Type": "application/json",
            "User-Agent": f"souvenance/{__version__}",
            "Connection": "close",
            **dict(delivery.headers),
            SIGNATURE_HEADER: delivery.signature,
        }
        exchange.request("POST", place.target, delivery.body, headers)
        return exchange.getresponse().status

    def _addresses(self, place: Destination) -> list[str]:
        if place.is_address:
            return [place.host]
        found = self.resolve(place.host, place.port)
        if not found:
            raise Undelivered("the host has no address", retry=True)
        if not self.allow_private and not all(map(is_public, found)):
            raise Undelivered("the host has an address that is not public", retry=False)
        return found[:_MOST_ADDRESSES]

    def _connected(self, place: Destination, addresses: list[str]) -> socket.socket:
        """A connection to the first of the addresses that answers, each in its share of the time."""
        failure = OSError("no address")
        for address in addresses:
            try:
                line = socket.create_connection((address, place.port), self.seconds / len(addresses))
            except OSError as error:
                failure = error
            else:
                line.settimeout(self.seconds)
                return line
        raise failure

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return self.trust or ssl.create_default_context()
