"""One unambiguous way to turn a list of fields into bytes, for hashing and binding.

The fields as a MessagePack array in its shortest form: every field carries its type and length, so
no two lists of fields have the same bytes, and "absent" differs from "empty".
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

Field = bytes | str | int | None

_encode = msgspec.msgpack.Encoder().encode


def frame(*fields: Field | Sequence[str]) -> bytes:
    return _encode(fields)
