"""Files that only one recipient can open: age, as a stream in either direction, never whole in memory."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from souvenance.adapters.private_files import read_private
from souvenance.errors import ArchiveDamaged, InvalidInput, SouvenanceError, Unsupported
from souvenance.extras import install

MAGIC = b"age-encryption.org/"
_PREFIX = "AGE-SECRET-KEY-"


def recipients(given: Sequence[str]) -> list[Any]:
    """Those that may open what is written. Raises: InvalidInput, Unsupported."""
    pyrage = _pyrage()
    found = []
    for one in given:
        kind = pyrage.ssh if one.startswith("ssh-") else pyrage.x25519
        try:
            found.append(kind.Recipient.from_str(one.strip()))
        except pyrage.RecipientError:
            raise InvalidInput(
                "that is no age recipient", hint="A recipient looks like age1… or ssh-ed25519 …."
            ) from None
    return found


def identities(path: Path) -> list[Any]:
    """The keys in an identity file, which must be its owner's alone. Raises: InvalidInput, Misconfigured."""
    pyrage = _pyrage()
    text = read_private(path)
    try:
        if "OPENSSH PRIVATE KEY" in text:
            return [pyrage.ssh.Identity.from_buffer(text.encode())]
        keys = [line.strip() for line in text.splitlines() if line.strip().startswith(_PREFIX)]
        found = [pyrage.x25519.Identity.from_str(key) for key in keys]
    except pyrage.IdentityError:
        found = []
    if not found:
        raise InvalidInput(f"{path} holds no age identity", hint="Make one with 'age-keygen'.")
    return found


@contextmanager
def encrypting(sink: IO[bytes], to: Sequence[Any]) -> Iterator[IO[bytes]]:
    """What is written here goes encrypted into the sink; all of it is there at the end.

    Raises: OSError, as the sink does.
    """
    pyrage = _pyrage()
    ours, theirs = os.pipe()
    noting = _Noting(sink)
    failed: list[OSError] = []

    def work() -> None:
        with os.fdopen(ours, "rb") as reader:
            try:
                pyrage.encrypt_io(reader, noting, list(to))
            except (OSError, pyrage.EncryptError) as error:
                failed.append(noting.error or OSError(errno.EIO, str(error)))

    worker = _beside(work)
    try:
        with os.fdopen(theirs, "wb") as writer:
            yield writer
    finally:
        worker.join()
        if failed:
            raise failed[0]


class _Noting:
    """A sink that remembers why it failed, whatever becomes of the exception."""

    def __init__(self, sink: IO[bytes]) -> None:
        self._sink = sink
        self.error: OSError | None = None

    def write(self, content: bytes) -> int:
        """Raises: OSError."""
        try:
            return self._sink.write(content)
        except OSError as error:
            self.error = error
            raise

    def flush(self) -> None:
        """Left to whoever opened the sink."""


class _Decrypted:
    """What comes out of the pipe; where it ends too soon, why."""

    def __init__(self, pipe: IO[bytes], why: Callable[[], SouvenanceError | None]) -> None:
        self._pipe = pipe
        self._why = why

    def read(self, size: int = -1) -> bytes:
        """Raises: InvalidInput, ArchiveDamaged."""
        found = self._pipe.read(size)
        if not found and size and (error := self._why()) is not None:
            raise error
        return found


@contextmanager
def decrypting(source: IO[bytes], by: Sequence[Any]) -> Iterator[Any]:
    """What is read here was encrypted in the source.

    Reading raises: InvalidInput if none of the keys fits, ArchiveDamaged if it was altered or cut.
    """
    pyrage = _pyrage()
    theirs, ours = os.pipe()
    failed: list[SouvenanceError] = []

    def work() -> None:
        with os.fdopen(ours, "wb", buffering=0) as writer:
            try:
                pyrage.decrypt_io(source, writer, list(by))
            except pyrage.DecryptError:
                failed.append(
                    InvalidInput("the identity does not open this archive", hint="Give another --identity.")
                )
            except OSError:
                failed.append(ArchiveDamaged("the archive was altered or cut after it was encrypted"))

    worker = _beside(work)

    def why() -> SouvenanceError | None:
        worker.join()
        return failed[0] if failed else None

    try:
        with os.fdopen(theirs, "rb") as reader:
            yield _Decrypted(reader, why)
    finally:
        worker.join()


def _beside(work: Callable[[], None]) -> threading.Thread:
    worker = threading.Thread(target=work, name="souvenance-age", daemon=True)
    worker.start()
    return worker


def _pyrage() -> Any:
    try:
        import pyrage  # type: ignore[import-untyped]
    except ImportError:
        raise Unsupported(
            "archives for a recipient need the package pyrage", hint=f"Run: {install('archive')}"
        ) from None
    return pyrage
