"""The paths of a framework as names of namespaces: `("users", "ann")` is `users.ann`."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from string import ascii_lowercase, digits

from souvenance.errors import InvalidInput

_PLAIN = frozenset(ascii_lowercase + digits + "_-")
_ENCODED = "x--"
"""What a label begins with that has other characters. Base32 of its UTF-8 follows."""
_MOST_CHARS = 64


def namespace_of(labels: Sequence[str]) -> str:
    """Raises: InvalidInput, if the name is too long."""
    name = ".".join(map(_encoded, labels))
    if len(name) > _MOST_CHARS:
        raise InvalidInput(
            f"the namespace {'/'.join(labels)} is too long: as '{name}' it has {len(name)} characters",
            hint=f"Use fewer or shorter labels: {_MOST_CHARS} characters of a-z, 0-9, '_' and '-' fit, "
            "fewer of others.",
        )
    return name


def labels_of(namespace: str) -> tuple[str, ...]:
    """The path that has this name."""
    return tuple(map(_decoded, namespace.split(".")))


def _encoded(label: str) -> str:
    if label and _PLAIN.issuperset(label) and not label.startswith(_ENCODED):
        return label
    return _ENCODED + base64.b32encode(label.encode()).decode().rstrip("=").lower()


def _decoded(label: str) -> str:
    if not label.startswith(_ENCODED):
        return label
    encoded = label.removeprefix(_ENCODED).upper()
    try:
        return base64.b32decode(encoded + "=" * (-len(encoded) % 8)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return label
