"""Which store and object store a data folder belongs to, remembered in a small file of the folder."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from souvenance.adapters.private_files import write_private
from souvenance.decoders import settled
from souvenance.errors import Misconfigured
from souvenance.files import locked

BINDING_FILE = "store.json"


class Binding(Struct, frozen=True, forbid_unknown_fields=True):
    """Addresses without user names and passwords."""

    store: str | None = None
    """The database; None for the file in the data folder."""
    objects: str | None = None
    """The bucket or folder where lines are kept a second time; None for none."""
    ready: bool = False
    """Whether the store was opened: else the set-up was only begun."""


def read_binding(home: Path) -> Binding | None:
    """What the folder remembers; None if nobody began to set it up. Raises: Misconfigured."""
    path = home / BINDING_FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=settled(Binding))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Misconfigured(f"{path} can't be read: {error.strerror}") from None
    except msgspec.DecodeError:
        raise Misconfigured(
            f"{path} is damaged", hint="Delete it and run 'souvenance init' with the settings of this store."
        ) from None


def write_binding(home: Path, binding: Binding) -> None:
    """Raises: StorageUnavailable."""
    with locked(home):
        write_private(
            home / BINDING_FILE, msgspec.json.format(msgspec.json.encode(binding), indent=1).decode() + "\n"
        )
