"""The object of a line: its key, and its envelope. Format 1.

    <workspace>/<owner>/<namespace>/<ulid>               a line, sealed, with its clear columns and citations
    <workspace>/<owner>/<namespace>/replaced/<ulid>      that this line was replaced, and by which
    <workspace>/<owner>/<namespace>/keys/<purpose>-<n>   a key of the compartment, wrapped by the root key

Lines and replacements carry a tag made with a key of their compartment over the object's key and all that it
says, so that an object that was moved, altered or made by a stranger is none. A wrapped key is bound to
its place by the root key itself. See docs/reference/format.md.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from hashlib import sha256

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from souvenance.decoders import settled
from souvenance.domain.encoding import frame
from souvenance.domain.line import SealedLine
from souvenance.domain.names import Compartment
from souvenance.errors import Tampered

FORMAT = 1
_FOLDERS = {"line": "", "replaced": "replaced/", "key": "keys/"}
"""Where the objects of each kind lie below their compartment."""
_LABEL = "souvenance.object.v1"
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_")
_LONGEST_PART = 120
_TAG_BYTES = 32


class LineObject(Struct, frozen=True, array_like=True, tag="line"):
    """What the object of a line says. Later versions may add fields at the end."""

    line: SealedLine
    sources: Sequence[str] = ()

    @classmethod
    def of(cls, line: SealedLine, sources: Sequence[str]) -> LineObject:
        """What replaced the line is told by an object of its own."""
        return cls(replace(line, invalidated_by=None), tuple(sources))

    @property
    def compartment(self) -> Compartment:
        return self.line.compartment

    @property
    def key(self) -> str:
        return object_key(self.compartment, "line", self.line.id)


class _OfCompartment(Struct, frozen=True, array_like=True):
    workspace: str
    owner: str
    namespace: str

    @property
    def compartment(self) -> Compartment:
        return Compartment(self.workspace, self.owner, self.namespace)


class ReplacedObject(_OfCompartment, frozen=True, array_like=True, tag="replaced"):
    target: str
    by: str

    @property
    def key(self) -> str:
        return object_key(self.compartment, "replaced", self.target)


class KeyObject(_OfCompartment, frozen=True, array_like=True, tag="key"):
    purpose: str
    epoch: int
    wrapped: bytes

    @property
    def key(self) -> str:
        return object_key(self.compartment, "key", key_name(self.purpose, self.epoch))


BucketObject = LineObject | ReplacedObject | KeyObject
_decoder: msgspec.msgpack.Decoder[BucketObject] = msgspec.msgpack.Decoder(settled(BucketObject))


def part(name: str) -> str:
    """A name as one segment of a key: no two names share one, on no file system.

    What is not a-z, 0-9, '-' or '_' is written as '=' and two hex digits a byte; a name that would be too
    long is told by its hash alone.
    """
    data = name.encode()
    spelt = "".join(chr(byte) if byte in _PLAIN else f"={byte:02x}" for byte in data)
    return spelt if len(spelt) <= _LONGEST_PART else f"=={sha256(data).hexdigest()}"


def compartment_prefix(compartment: Compartment) -> str:
    return "".join(f"{part(name)}/" for name in compartment)


def object_key(compartment: Compartment, kind: str, name: str) -> str:
    return f"{compartment_prefix(compartment)}{_FOLDERS[kind]}{name}"


def key_name(purpose: str, epoch: int) -> str:
    return f"{purpose}-{epoch}"


def split_key(key: str) -> tuple[str, str, str] | None:
    """The prefix of its compartment, the kind of object ('line', 'replaced' or 'key'), and its name there.

    None for what is no object of ours.
    """
    *folders, name = key.split("/")
    prefix, below = ("".join(f"{one}/" for one in some) for some in (folders[:3], folders[3:]))
    kinds = [kind for kind, folder in _FOLDERS.items() if folder == below]
    return (prefix, kinds[0], name) if kinds and len(folders) >= 3 else None


def packed(record: LineObject | ReplacedObject, blind: bytes) -> bytes:
    """The bytes of the object. `blind` is the compartment's key of that purpose."""
    body = msgspec.msgpack.encode(record)
    return bytes((FORMAT,)) + _tag(record.key, body, blind) + body


def packed_key(record: KeyObject) -> bytes:
    return bytes((FORMAT,)) + msgspec.msgpack.encode(record)


def unpacked(key: str, data: bytes, blind: bytes) -> LineObject | ReplacedObject:
    """What the object under that key says. Raises: Tampered if it was moved, altered or made without the
    compartment's key."""
    tag, body = data[1 : 1 + _TAG_BYTES], data[1 + _TAG_BYTES :]
    if data[:1] != bytes((FORMAT,)) or not hmac.compare_digest(tag, _tag(key, body, blind)):
        raise Tampered(f"object {key} does not open: its bytes or its place were altered")
    record = _decoded(key, body)
    if isinstance(record, KeyObject) or record.key != key:
        raise Tampered(f"object {key} says that it is another")
    return record


def unpacked_key(key: str, data: bytes) -> KeyObject:
    """The wrapped key in the object; whether it is one, the root key tells. Raises: Tampered if it was moved
    or altered."""
    record = _decoded(key, data[1:]) if data[:1] == bytes((FORMAT,)) else None
    if not isinstance(record, KeyObject) or record.key != key:
        raise Tampered(f"object {key} is no key of that place")
    return record


def _decoded(key: str, body: bytes) -> BucketObject:
    try:
        return _decoder.decode(body)
    except (msgspec.MsgspecError, ValueError):
        raise Tampered(f"object {key} can't be read") from None


def _tag(key: str, body: bytes, blind: bytes) -> bytes:
    secret = hmac.digest(blind, _LABEL.encode(), "sha256")
    return hmac.digest(secret, frame(_LABEL, key) + body, "sha256")
