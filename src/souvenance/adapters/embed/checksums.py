"""Files that are used only if they are the very bytes that were named."""

from __future__ import annotations

import hashlib
from pathlib import Path

from souvenance.errors import Misconfigured, Tampered

_HINT = "Nothing was loaded. Install the file again, or name the SHA-256 of the one that you trust."


def verified(path: Path, sha256: str) -> bytes:
    """The content: what was checked is what is used. Raises: Tampered, Misconfigured if it can't be read."""
    content = readable(path)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise Tampered(f"{path.name} is not the file whose SHA-256 is {sha256}", hint=_HINT)
    return content


def readable(path: Path) -> bytes:
    """The content. Raises: Misconfigured if it can't be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise Misconfigured(f"{path} can't be read: {error.strerror or error}") from error
