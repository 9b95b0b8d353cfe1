"""The archive: one file that holds members, and at its end a manifest of them, checked before use.

    archive = gzip(tar(member, member, …, manifest.json)), encrypted with age if it has a recipient

Whatever is not exactly of this form is refused: other names, other sorts of members, other versions, bytes
behind the end. Nothing is ever unpacked by a member's own word on where it belongs. Reading takes little
memory, however large a member says it is. What is encrypted with age is read and written as a stream, never
whole in memory.
"""

from __future__ import annotations

import errno
import gzip
import os
import secrets
import shutil
import tarfile
import threading
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import msgspec

from souvenance.adapters.private_files import SourceFile, open_regular, place, read_private
from souvenance.decoders import settled
from souvenance.domain.archive_records import FORMAT, Manifest, Member
from souvenance.errors import (
    ArchiveDamaged,
    Conflict,
    FileTooLarge,
    InvalidInput,
    SouvenanceError,
    Unsupported,
)
from souvenance.extras import install
from souvenance.files import new_file, sync_folder, translation
from souvenance.patterns import pattern

MAGIC = b"age-encryption.org/"
_PREFIX = "AGE-SECRET-KEY-"


def readable_recipients(given: Sequence[str]) -> list[Any]:
    """Those that may open what is written. Raises: InvalidInput, Unsupported."""
    pyrage = _pyrage()
    found = []
    for one in given:
        kind = pyrage.ssh if one.startswith("ssh-") else pyrage.x25519
        try:
            found.append(kind.Recipient.from_str(one.strip()))
        except pyrage.RecipientError:
            raise InvalidInput(
                "that is not an age recipient", hint="A recipient looks like age1… or ssh-ed25519 …."
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
    """What is written here goes encrypted into the sink; all of it is there at the end. Raises: OSError, as
    the sink does."""
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
        """The caller flushes the sink."""


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


MANIFEST = "manifest.json"
MOST_MEMBERS = 100_000
MOST_MANIFEST_BYTES = 32 * 1024 * 1024
MOST_BYTES = 1 << 40
MOST_LINE_BYTES = 80 * 1024 * 1024
_CHUNK = 1024 * 1024
_BLOCK = tarfile.BLOCKSIZE
_NAME = pattern(r"[a-z0-9][a-z0-9._-]{0,79}\Z")
_GZIP = b"\x1f\x8b"
_CUT = "the archive ends too soon"


class ArchiveWriter:
    def __init__(self, sink: gzip.GzipFile) -> None:
        self._sink = sink
        self._members: list[Member] = []

    def add(self, name: str, content: bytes) -> None:
        self._add(name, BytesIO(content), len(content))

    def add_file(self, name: str, path: Path) -> None:
        """The file as it is; it must not change meanwhile."""
        with path.open("rb") as file:
            self._add(name, file, path.stat().st_size)

    def _add(self, name: str, file: IO[bytes], size: int) -> None:
        header = tarfile.TarInfo(name)
        header.size, header.mode = size, 0o600
        digest, left = sha256(), size
        self._sink.write(header.tobuf(tarfile.GNU_FORMAT, "ascii", "strict"))
        while left and (chunk := file.read(min(_CHUNK, left))):
            digest.update(chunk)
            self._sink.write(chunk)
            left -= len(chunk)
        if left:
            raise ArchiveDamaged(f"{name} became shorter while it was read")
        self._sink.write(b"\0" * (-size % _BLOCK))
        self._members.append(Member(name, size, digest.hexdigest()))

    def close(self, manifest: Manifest) -> Manifest:
        """Write the manifest, with every member in it, and the end."""
        whole = msgspec.structs.replace(manifest, members=list(self._members))
        content = msgspec.json.format(msgspec.json.encode(whole, order="deterministic"), indent=1) + b"\n"
        self.add(MANIFEST, content)
        self._sink.write(b"\0" * (2 * _BLOCK))
        return whole


class ArchiveReader:
    """An archive that was verified: every member is what the manifest says."""

    def __init__(self, path: SourceFile, identity: Path | None, most_bytes: int = MOST_BYTES) -> None:
        """Read all of it once.

        Raises: ArchiveDamaged, FileTooLarge, InvalidInput if it can't be read or opened.
        """
        self._path = path
        self._most = most_bytes
        self._by = None if identity is None else identities(identity)
        with closing(self._tar()) as members:
            found, self.manifest = _weighed(members)
        if found != self.manifest.members:
            raise ArchiveDamaged("the archive does not hold what its manifest says")
        if len({member.name for member in found}) != len(found):
            raise ArchiveDamaged("the archive holds a name twice")

    @property
    def digest(self) -> str:
        """By which the very same content is known again."""
        content = msgspec.json.encode([self.manifest.kind, self.manifest.members], order="deterministic")
        return sha256(content).hexdigest()

    def members(self) -> Generator[tuple[str, Iterator[bytes]], None, None]:
        """Name and content of each, in order; the content in pieces, to be used before the next.

        Raises: ArchiveDamaged if the file changed since it was verified.
        """
        known = iter(self.manifest.members)
        with closing(self._tar()) as members:
            for name, content in members:
                if name != MANIFEST:
                    yield name, _held(content, next(known, None), name)

    def lines(self, prefix: str) -> Iterator[bytes]:
        """The lines of the members whose names begin so, in order. Raises: ArchiveDamaged."""
        with closing(self.members()) as members:
            for name, content in members:
                if name.startswith(prefix):
                    yield from _lines(content)

    def _tar(self) -> Generator[tuple[str, Iterator[bytes]], None, None]:
        with self._opened() as stream:
            yield from _walk(stream, self._most)

    @contextmanager
    def _opened(self) -> Iterator[gzip.GzipFile]:
        with ExitStack() as stack:
            try:
                file = stack.enter_context(open_regular(self._path))
            except OSError as error:
                raise InvalidInput(f"{self._path} can't be read: {error.strerror}") from None
            start = file.read(len(MAGIC))
            file.seek(0)
            source: IO[bytes] = file
            if start == MAGIC:
                if self._by is None:
                    raise InvalidInput(
                        "the archive is encrypted", hint="Give the key that opens it: --identity FILE."
                    )
                source = stack.enter_context(decrypting(file, self._by))
            elif start[:2] != _GZIP:
                raise ArchiveDamaged("the file is no Souvenance archive")
            yield stack.enter_context(gzip.GzipFile(fileobj=source, mode="rb"))


class Archives:
    @contextmanager
    def writing(self, path: Path, recipients: Sequence[str] = ()) -> Iterator[ArchiveWriter]:
        """A new archive, its owner's alone, which is there whole at the end or not at all.

        Raises: Conflict if the file is there, InvalidInput, Unsupported, StorageUnavailable and its kind.
        """
        to = readable_recipients(recipients) if recipients else None
        with placed(path) as fresh, new_file(fresh) as file, ExitStack() as stack:
            sink: IO[bytes] = file
            if to is not None:
                sink = stack.enter_context(encrypting(file, to))
            yield stack.enter_context(self.packing(sink))

    @contextmanager
    def packing(self, sink: IO[bytes]) -> Iterator[ArchiveWriter]:
        """An archive written into the sink. Raises: OSError, as the sink does."""
        with gzip.GzipFile(filename="", mode="wb", fileobj=sink, mtime=0, compresslevel=6) as zipped:
            yield ArchiveWriter(zipped)

    def reading(self, path: SourceFile, identity: Path | None = None) -> ArchiveReader:
        """An archive, verified from beginning to end. Raises: as `ArchiveReader`."""
        return ArchiveReader(path, identity)

    def is_archive(self, path: SourceFile) -> bool:
        """Whether the file looks like one: encrypted, or compressed with a name of ours at its beginning."""
        try:
            with open_regular(path) as file:
                if file.read(len(MAGIC)) == MAGIC:
                    return True
                file.seek(0)
                with gzip.GzipFile(fileobj=file, mode="rb") as opened:
                    return _member(opened.read(_BLOCK)) is not None
        except (OSError, EOFError, zlib.error):
            return False


@contextmanager
def placed(path: Path) -> Iterator[Path]:
    """A name beside the path; what is written there, a file or a folder, gets the path's at the end.

    Raises: Conflict if the path is there, StorageUnavailable and its kind.
    """
    if os.path.lexists(path):
        raise Conflict(f"{path} exists", hint="Name one that does not.")
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        try:
            yield fresh
            if not fresh.is_dir():
                place(fresh, path)
            elif os.path.lexists(path):
                raise FileExistsError(path)
            else:
                fresh.rename(path)
        finally:
            if fresh.is_dir():
                shutil.rmtree(fresh, ignore_errors=True)
            fresh.unlink(missing_ok=True)
        sync_folder(path.parent)
    except FileExistsError:
        raise Conflict(f"{path} exists", hint="Name one that does not.") from None
    except OSError as error:
        raise translation(f"{path} can't be written", error) from error


def _member(block: bytes) -> tarfile.TarInfo | None:
    try:
        member = tarfile.TarInfo.frombuf(block, "ascii", "strict")
    except (tarfile.HeaderError, UnicodeDecodeError):
        return None
    return member if member.type == tarfile.REGTYPE and _NAME.match(member.name) else None


def _walk(stream: gzip.GzipFile, most: int) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Each member's name and content. Raises: ArchiveDamaged, FileTooLarge."""
    passed = 0
    for _ in range(MOST_MEMBERS + 1):
        block = _exactly(stream, _BLOCK)
        if not any(block):
            if any(_exactly(stream, _BLOCK)) or _read(stream, 1):
                raise ArchiveDamaged("something follows the archive's end")
            return
        member = _member(block)
        if member is None:
            raise ArchiveDamaged("the archive holds something that is no member of an archive")
        passed += member.size
        if member.size < 0 or passed > most:
            raise FileTooLarge(f"the archive holds more than {most} bytes")
        content = _pieces(stream, member.size)
        yield member.name, content
        for _rest in content:
            pass
        _exactly(stream, -member.size % _BLOCK)
    raise FileTooLarge(f"the archive has more than {MOST_MEMBERS} members")


def _pieces(stream: gzip.GzipFile, size: int) -> Iterator[bytes]:
    while size:
        piece = _read(stream, min(_CHUNK, size))
        if not piece:
            raise ArchiveDamaged(_CUT)
        size -= len(piece)
        yield piece


def _read(stream: gzip.GzipFile, size: int) -> bytes:
    try:
        return stream.read(size)
    except EOFError:
        raise ArchiveDamaged(_CUT) from None
    except (OSError, zlib.error):
        raise ArchiveDamaged("the archive can't be read to its end: it is damaged") from None


def _exactly(stream: gzip.GzipFile, size: int) -> bytes:
    return b"".join(_pieces(stream, size))


def _weighed(members: Iterator[tuple[str, Iterator[bytes]]]) -> tuple[list[Member], Manifest]:
    """What the archive holds, and what it says that it holds. Raises: ArchiveDamaged, InvalidInput."""
    found: list[Member] = []
    manifest = None
    for name, content in members:
        if manifest is not None:
            raise ArchiveDamaged("something follows the archive's manifest")
        if name == MANIFEST:
            manifest = _manifest(content)
            continue
        digest, size = sha256(), 0
        for piece in content:
            digest.update(piece)
            size += len(piece)
        found.append(Member(name, size, digest.hexdigest()))
    if manifest is None:
        raise ArchiveDamaged("the archive has no manifest")
    return found, manifest


def _held(content: Iterator[bytes], member: Member | None, name: str) -> Iterator[bytes]:
    """The content; that it is still what was verified shows at its end. Raises: ArchiveDamaged."""
    digest = sha256()
    for piece in content:
        digest.update(piece)
        yield piece
    if member is None or (member.name, member.sha256) != (name, digest.hexdigest()):
        raise ArchiveDamaged("the archive changed while it was read")


def _lines(content: Iterator[bytes]) -> Iterator[bytes]:
    left = b""
    for piece in content:
        *lines, left = (left + piece).split(b"\n")
        if len(left) > MOST_LINE_BYTES:
            raise FileTooLarge(f"a record of the archive is larger than {MOST_LINE_BYTES} bytes")
        yield from lines
    if left:
        raise ArchiveDamaged("a record of the archive has no end")


class _Head(msgspec.Struct):
    format: int


def _manifest(pieces: Iterator[bytes]) -> Manifest:
    """Raises: ArchiveDamaged, FileTooLarge, InvalidInput if a newer version wrote it."""
    content = b""
    for piece in pieces:
        content += piece
        if len(content) > MOST_MANIFEST_BYTES:
            raise FileTooLarge(f"the archive's manifest is larger than {MOST_MANIFEST_BYTES} bytes")
    try:
        if (version := msgspec.json.decode(content, type=settled(_Head)).format) != FORMAT:
            raise InvalidInput(
                f"the archive has format {version}, and this version reads format {FORMAT}",
                hint="Upgrade Souvenance.",
            )
        return msgspec.json.decode(content, type=settled(Manifest))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise ArchiveDamaged("the archive's manifest can't be read") from None
