"""Running the HTTP door with uvicorn."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext, suppress
from importlib.util import find_spec
from typing import Any

import uvicorn
from msgspec import Struct
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from souvenance.config import Settings
from souvenance.errors import HeadersTooLarge, InvalidInput, Misconfigured, SouvenanceError
from souvenance.http_client import is_loopback
from souvenance.surfaces.http.app import Door, make_app
from souvenance.surfaces.http.inspector.data_pages import DataFiles
from souvenance.surfaces.http.inspector.door import InspectorDoor
from souvenance.surfaces.http.oauth.door import SignInDoor
from souvenance.surfaces.http.request_threads import refusal
from souvenance.surfaces.http.telemetry.logs import Log, logging_to
from souvenance.surfaces.http.telemetry.observer import observing
from souvenance.surfaces.open_memory import OpenMemory

MOST_HEADER_BYTES = 64 * 1024


class BoundedProtocol(HttpToolsProtocol):
    header_seconds = 30.0
    rest_seconds = 30.0
    """How long the rest of a body may come, unread, after its request was answered."""
    _header_bytes = 0
    _in_headers = True
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._close_in(self.header_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._keep_open()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._in_headers:
            self._header_bytes += len(data)
            if self._timer is None:
                self._close_in(self.header_seconds)
        super().data_received(data)
        if self._in_headers and self._header_bytes > MOST_HEADER_BYTES and not self.transport.is_closing():
            self._refuse(HeadersTooLarge(f"the headers are larger than {MOST_HEADER_BYTES} bytes"))

    def on_headers_complete(self) -> None:
        self._in_headers = False
        self._keep_open()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_headers, self._header_bytes = True, 0
        self._keep_open()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._in_headers:
            self._close_in(self.rest_seconds)

    def send_400_response(self, msg: str) -> None:
        self._refuse(InvalidInput("this is not an HTTP request", hint="See /openapi.json."))

    def _refuse(self, error: SouvenanceError) -> None:
        """In the words of the doors, for a request that reaches none."""
        answer = refusal(error)
        answer.headers["connection"] = "close"
        lines = b"".join(b"%b: %b\r\n" % header for header in answer.raw_headers)
        self.transport.write(STATUS_LINE[answer.status_code] + lines + b"\r\n" + bytes(answer.body))
        self.transport.close()

    def _close_in(self, seconds: float) -> None:
        self._keep_open()
        self._timer = self.loop.call_later(seconds, self.transport.close)

    def _keep_open(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


_SWITCH_SECONDS = 0.0001
"""How long a thread that computes keeps the interpreter from one that waits for it. A verdict waits so long
after each of its calls into the store."""
_ARENA_MAX = -8
"""What glibc's `mallopt` calls the number of arenas."""
_LOOPBACK_OF = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - looked up, never listened on


class Address(Struct, frozen=True):
    """Where to listen, and by which names remote clients call that."""

    host: str
    port: int
    allow_remote: bool
    names: Sequence[str]


def doors_of(memory: OpenMemory, settings: Settings, files: DataFiles) -> list[Door]:
    """The doors beyond our own API and Honcho's. Raises: Misconfigured."""
    public_url = settings.public_url
    doors: list[Door] = [
        SignInDoor(memory.sign_ins, public_url),
        InspectorDoor(memory.sign_ins.browsers, files, public_url),
    ]
    if find_spec("mcp") is not None:
        from souvenance.surfaces.mcp.door import McpDoor

        doors.append(McpDoor(public_url=public_url))
    if settings.chat.upstreams:
        from souvenance.surfaces.http.chat.door import ChatDoor

        doors.append(ChatDoor(settings.chat, cap=memory.owner_cap, key=memory.key))
    return doors


def serve(
    memory: OpenMemory,
    settings: Settings,
    address: Address,
    greet: Callable[[str], None],
    *,
    doors: Sequence[Door] = (),
    trusting: bool = False,
    serving: bool = True,
) -> None:
    """Serve and work until interrupted; `trusting` takes 'local' for the owner's cap. One that is not
    `serving` answers only how it goes. Raises: Misconfigured."""
    _check(address, trusting=trusting)
    sys.setswitchinterval(_SWITCH_SECONDS)
    # All threads allocate from one arena, where the C library has several. With one for each a server kept a
    # third more after half an hour: what one thread freed, no other used again.
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
    listener = _listen(address, memory)
    log = Log(settings.telemetry.log)
    with closing(listener), logging_to(log), observing(settings.telemetry, log) as observer:
        if observer is not None:
            memory.gate.observe(observer)
            memory.worker.observer = observer
        bound_host, bound_port = listener.getsockname()[:2]
        allowed = None if is_loopback(bound_host) else frozenset(name.lower() for name in address.names)
        app = make_app(
            memory.gate,
            allowed_hosts=allowed,
            trusted=memory.owner_cap if trusting else None,
            doors=doors,
            observer=observer,
            serving=serving,
        )
        config = uvicorn.Config(
            app,
            http=BoundedProtocol,
            ws="none",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            date_header=True,
            lifespan="on",
            timeout_graceful_shutdown=5,
        )
        url = _url(bound_host, bound_port)
        near = _LOOPBACK_OF.get(bound_host) or (bound_host if is_loopback(bound_host) else None)
        found = serving and near is not None and not allowed  # With names given, it refuses an address.
        announcement = memory.announced(_url(near or "", bound_port)) if found else nullcontext()
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            with memory.working(), announcement:
                _GreetingServer(config, lambda: greet(url)).run(sockets=[listener])
        except KeyboardInterrupt:
            pass
        log.say("Souvenance stopped.")


def _check(address: Address, *, trusting: bool) -> None:
    """Raises: Misconfigured."""
    near = is_loopback(address.host)
    if not near and not address.allow_remote:
        raise Misconfigured(
            f"{address.host} can be reached from other machines",
            hint="Add --allow-remote if that is meant, and put TLS in front.",
        )
    if trusting and not near:
        raise Misconfigured(
            "--trust-loopback is for a server that only this machine can reach",
            hint="Leave out --host, or give remote and local programs a cap each.",
        )


class _GreetingServer(uvicorn.Server):
    """Greets once it can be stopped: by then it hears signals."""

    def __init__(self, config: uvicorn.Config, greet: Callable[[], None]) -> None:
        super().__init__(config)
        self._greet = greet

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        gc.freeze()  # What is loaded by now stays: to look through it for garbage would hold up all requests.
        self._greet()


def _url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _listen(address: Address, memory: OpenMemory) -> socket.socket:
    """Raises: Misconfigured."""
    host, port = address.host, address.port
    try:
        family, kind, protocol, _, found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(found)
        listener.listen(1024)
    except OSError as error:
        served = memory.served_at()
        where = f"This folder is served at {served} already" if served else "Another server may have the port"
        raise Misconfigured(
            f"{host}:{port} can't be listened on: {error.strerror or error}",
            hint=f"{where}: choose another port with --port.",
        ) from error
    return listener
