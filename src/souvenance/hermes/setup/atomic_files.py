"""Text files that are replaced whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from souvenance.errors import StorageReadOnly


def replace_text(path: Path, text: str) -> None:
    """Make or replace the file, through a link too, with the rights that it had.

    Raises: StorageReadOnly.
    """
    target = Path(os.path.realpath(path))
    fresh = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        with open(fresh, "x", encoding="utf-8", newline="") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, target)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        fresh.unlink(missing_ok=True)


def unwritable(path: Path, error: OSError) -> StorageReadOnly:
    return StorageReadOnly(
        f"{path} can't be written: {error.strerror}", hint="Make it writable for this user."
    )
