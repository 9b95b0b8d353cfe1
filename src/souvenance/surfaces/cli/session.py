"""What every command shares: what it is given, where the memory is, and which cap speaks."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from souvenance.config import Settings, settings_from
from souvenance.domain import capability as cap
from souvenance.domain import proof, ulid
from souvenance.domain.encoding import unb64
from souvenance.domain.names import ALL, DEFAULT_WORKSPACE
from souvenance.domain.proof import Bound
from souvenance.errors import CapMissing, InvalidInput, Misconfigured, Unavailable
from souvenance.extras import install
from souvenance.gate.messages import Attenuate, CapAnswer, Compartments, Request, WhoAmI, checked
from souvenance.gate.operation import Operation
from souvenance.gate.operations import COMPARTMENTS, WHOAMI
from souvenance.gate.token_verifier import Credentials
from souvenance.gate.tokens import attenuated
from souvenance.surfaces.cli.output import say
from souvenance.surfaces.open_memory import OpenInstallation, OpenMemory
from souvenance.surfaces.transfers import Transfers

if TYPE_CHECKING:
    from souvenance.gate.replication import RepairReport


_CARRYING_SECONDS = 5.0
NOTHING_SERVES = "the HTTP server is not installed"


class GateCaller(Protocol):
    """The gate, here or behind a URL."""

    def bind(self, operation: Operation, request: Request) -> Bound: ...

    def call(self, operation: Operation, credentials: Credentials, request: Request) -> Any: ...


@dataclass
class Shell:
    """One invocation of the command line."""

    open_installation: OpenInstallation
    transfers: Transfers
    home: str | None = None
    config: str | None = None
    url: str | None = None
    cap: str | None = None
    workspace: str | None = None
    holder_key: str | None = None
    json: bool = False
    peer: str | None = None
    """Whose memory is looked at; None for that of the cap's own subject."""
    makes: bool = False
    """Whether a data folder that was never set up is made; what only looks or deletes says so instead."""
    _installation: OpenMemory | None = field(default=None, repr=False)
    _caller: GateCaller | None = field(default=None, repr=False)
    _opened: list[Callable[[], None]] = field(default_factory=list, repr=False)

    @cached_property
    def settings(self) -> Settings:
        return settings_from(os.environ, self.home, config=self.config, url=self.url, cap=self.cap)

    def installation(self, **options: Any) -> OpenMemory:
        if self._installation is None:
            self._installation = self.open_installation(self.settings, make=self.makes, **options)
            self._opened.append(partial(_leave, self._installation))
        return self._installation

    def call(self, operation: Operation, request: Request, *, workspace: str | None = None) -> Any:
        """Ask the gate, with the cap of this invocation. Raises: SouvenanceError."""
        request = checked(request)
        caller = self._connected()
        token = self.token(workspace)
        credentials = Credentials(token)
        if cap.read_unverified(token)[1]:
            credentials = self._proved(token, caller.bind(operation, request))
        return caller.call(operation, credentials, request)

    @contextmanager
    def still(self) -> Iterator[None]:
        """Meanwhile the data folder is read as it is at one moment, also if others write."""
        with self.installation().gate.still() as gate:
            self._caller = gate
            try:
                yield
            finally:
                self._caller = None

    def token(self, workspace: str | None = None) -> str:
        """The cap of this invocation, narrowed to a workspace if one was named."""
        given = self.settings.cap
        if given is None:
            token = self._owner_cap()
        else:
            token = file_text(given[1:]) if given.startswith("@") else given.strip()
        if not token:
            raise CapMissing("the cap that was given is empty")
        named = workspace or self.workspace
        if not named and not self.peer:
            return token
        return self.attenuated(token, Attenuate(sub=self.peer, wid=named)).cap

    def grants(self, op: str) -> bool:
        """Whether the cap of this invocation says that it allows the operation; the gate decides."""
        self._connected()
        return op in cap.read_unverified(self.token())[0][-1].ops

    def attenuated(self, token: str, request: Attenuate) -> CapAnswer:
        """A narrower cap, made here and now."""
        return attenuated(
            token,
            request,
            jti=fresh_ulid(),
            now=int(time.time()),
            secret=Ed25519PrivateKey.generate(),
            holder_secret=self._holder_secret(),
        )

    def own_workspace(self) -> str:
        """The workspace that the cap of this invocation speaks for. Raises: SouvenanceError."""
        named: str = self.call(WHOAMI, WhoAmI()).wid
        return DEFAULT_WORKSPACE if named == ALL else named

    def show(self, answer: Any, text: Callable[[], str | Iterable[str]]) -> None:
        """Print an answer: as JSON if asked for, else the text, or rows of it."""
        if self.json:
            say(msgspec.json.encode(answer).decode())
            return
        found = text()
        if shown := found if isinstance(found, str) else "\n".join(found):
            say(shown)

    def renew(self) -> None:
        """Open the data folder anew, with a new owner's cap."""
        self._installation, self._caller = None, None
        self.installation(renew_owner_cap=True)

    def close(self) -> None:
        for close in self._opened:
            close()

    @property
    def is_remote(self) -> bool:
        """Whether a server is asked, and not the data folder."""
        return bool(self.server)

    @property
    def server(self) -> str | None:
        """The address of the server that is asked, if any is."""
        return self.settings.url

    def _connected(self) -> GateCaller:
        if self._caller is None:
            if url := self.server:
                from souvenance.surfaces.http.client import RemoteGate

                remote = RemoteGate(url)
                self._opened.append(remote.close)
                self._caller = remote
            else:
                self._caller = self.installation().gate
        return self._caller

    def _owner_cap(self) -> str:
        if self._installation is not None:
            return self._installation.owner_cap
        path = self.settings.owner_cap
        try:
            return path.read_text("utf-8").strip()
        except OSError:
            raise CapMissing(
                f"no cap was given and there is none at {path}", hint="Give one with --cap or SOUVENANCE_CAP."
            ) from None

    def _proved(self, token: str, bound: Bound) -> Credentials:
        key = self._holder_secret()
        if key is None:
            return Credentials(token, None, bound)
        made = proof.make(token, bound, key=key, jti=fresh_ulid(), now=int(time.time()))
        return Credentials(token, made, bound)

    def _holder_secret(self) -> Ed25519PrivateKey | None:
        if self.holder_key is None:
            return None
        try:
            return Ed25519PrivateKey.from_private_bytes(unb64(file_text(self.holder_key)))
        except ValueError:
            raise InvalidInput(
                f"{self.holder_key} holds no key", hint="Make one: 'souvenance cap holder-key'."
            ) from None


def _leave(installation: OpenMemory) -> None:
    """Take to the bucket what this command left for it; what can't be waits in the store."""
    with suppress(Unavailable):
        installation.carry(_CARRYING_SECONDS)
    installation.close()


def mend(
    shell: Shell, work: Callable[[OpenMemory], RepairReport], *, rebuilding: bool = False
) -> RepairReport:
    """Raises: SouvenanceError, also without a cap for the whole installation."""
    if shell.is_remote:
        raise InvalidInput("this works only where the data folder is", hint="Leave --url out.")
    installation = shell.installation(rebuilding=rebuilding)
    shell.call(COMPARTMENTS, Compartments())
    return work(installation)


@contextmanager
def what_serves() -> Iterator[None]:
    """Import within this what it takes to serve HTTP. Raises: Misconfigured, if that is not installed."""
    try:
        yield
    except ModuleNotFoundError:
        raise Misconfigured(NOTHING_SERVES, hint=f"Run: {install('serve')}") from None


def fresh_ulid() -> str:
    return ulid.compose(time.time_ns() // 1_000_000, os.urandom(ulid.ENTROPY_BYTES))


def file_text(path: str | Path) -> str:
    """Raises: InvalidInput."""
    try:
        return Path(path).expanduser().read_text("utf-8").strip()
    except OSError as error:
        raise InvalidInput(f"{path} can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not text") from None


def this_program() -> tuple[str, ...]:
    """This program, as another one can start it from anywhere."""
    script = Path(sys.argv[0])
    runs = script.name == "souvenance" and script.is_file() and os.access(script, os.X_OK)
    return (str(script.absolute()),) if runs else (sys.executable, "-m", "souvenance")
