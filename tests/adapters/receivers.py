"""Receivers of webhooks on this machine, well behaved and otherwise."""

from __future__ import annotations

import datetime as dt
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from threading import Thread

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)


class Receiver(ThreadingHTTPServer):
    """Remembers each request and answers with one status."""

    def __init__(self, status: int, headers: dict[str, str], host: str) -> None:
        super().__init__((host, 0), _Handler)
        self.status = status
        self.headers = headers
        self.received: list[tuple[str, dict[str, str], bytes]] = []
        self.asked_for: list[str | None] = []

    @property
    def port(self) -> int:
        return self.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append((self.path, dict(self.headers), body))
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def receiver(
    status: int = 200,
    headers: dict[str, str] | None = None,
    *,
    host: str = "127.0.0.1",
    tls: ssl.SSLContext | None = None,
) -> Iterator[Receiver]:
    server = Receiver(status, headers or {}, host)
    if tls:
        tls.sni_callback = lambda _line, name, _context: server.asked_for.append(name)
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    yield from _served(server)


def _served(server: Receiver) -> Iterator[Receiver]:
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def rude(behave: Callable[[socket.socket], None]) -> Iterator[int]:
    """A port where one caller is answered by `behave`, until the caller has had enough.

    Then its connection is shut here: who is sending when the caller leaves may learn of that minutes later.
    """
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            line, _ = listening.accept()
            taken.append(line)
            with line:
                try:
                    line.recv(65536)
                    behave(line)
                except OSError:
                    return

        thread = Thread(target=answer, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        for line in taken:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        thread.join()


class Authority:
    """Issues certificates that only its own context trusts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
        made = self._signed(self._name, self._key, dt.timedelta(days=36500), [], authority=True)
        self.trusted = ssl.create_default_context(
            cadata=made.public_bytes(serialization.Encoding.PEM).decode()
        )

    def context(self, *names: str, lasting: dt.timedelta = dt.timedelta(days=36500)) -> ssl.SSLContext:
        """A server's context with a certificate for the names and addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        made = self._signed(subject, key, lasting, list(names), authority=False)
        path = self._folder / "server.pem"
        path.write_bytes(
            made.public_bytes(serialization.Encoding.PEM)
            + key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    def _signed(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        lasting: dt.timedelta,
        names: list[str],
        *,
        authority: bool,
    ) -> x509.Certificate:
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(NOON)
            .not_valid_after(NOON + lasting)
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        )
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(map(_general, names)), critical=False)
        return builder.sign(self._key, hashes.SHA256())


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)
