"""The models of several endpoints as one list, each under the name that leads to it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw, Struct

from souvenance.decoders import UNREADABLE, settled
from souvenance.domain.upstream import ChatSettings, Upstream


class _List(Struct):
    data: list[dict[str, Raw]]


def listed(settings: ChatSettings, upstream: Upstream, told: bytes) -> Iterator[tuple[str, dict[str, Raw]]]:
    """Those models of an endpoint's list that are asked for there, each with the name that leads to it."""
    try:
        found = msgspec.json.decode(told, type=settled(_List)).data
    except UNREADABLE:
        return
    for model in found:
        try:
            name = msgspec.json.decode(model.get("id", b"null"), type=str)
        except UNREADABLE:
            continue
        known = upstream.prefix + name if upstream.strip else name
        if settings.serving(known) == upstream:
            yield known, {**model, "id": Raw(msgspec.json.encode(known))}
