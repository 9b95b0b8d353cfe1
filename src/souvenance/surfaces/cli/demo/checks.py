"""What the demo holds captured answers against. A refusal counts only with its canonical code."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from souvenance.decoders import settled
from souvenance.surfaces.http.openapi import Error


class CheckFailed(Exception):
    """A step saw something else than it must."""


class CheckSkipped(Exception):
    """A step can't be played here, for a reason that is nobody's fault."""


class Ran(NamedTuple):
    """How a process of the command line ended."""

    exit_code: int
    out: str
    err: str


class Response(NamedTuple):
    """An HTTP answer as it came over the wire; the date apart, which alone may differ."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def expect(holds: bool, seen: str) -> None:
    if not holds:
        raise CheckFailed(seen)


def printed(ran: Ran) -> Any:
    """The JSON that a command printed."""
    expect(ran.exit_code == 0, f"exit {ran.exit_code}: {ran.err or ran.out}")
    return msgspec.json.decode(ran.out)


def complained(ran: Ran, *, exit_code: int, code: str) -> str:
    """The refusal that a command ended with, in words."""
    expect(
        ran.exit_code == exit_code and _code(ran.err.encode()) == code,
        f"wanted exit {exit_code} {code}, saw exit {ran.exit_code}: {ran.err or ran.out}",
    )
    return f"exit {exit_code} {code}"


def answered(response: Response) -> Any:
    """The JSON of an answer that is no refusal."""
    expect(response.status == 200, f"wanted 200, saw {response.status}: {_shortened(response.body)}")
    return msgspec.json.decode(response.body)


def refused(response: Response, *, status: int, code: str) -> str:
    """The refusal that an answer is, in words."""
    expect(
        response.status == status and _code(response.body) == code,
        f"wanted {status} {code}, saw {response.status}: {_shortened(response.body)}",
    )
    return f"{status} {code}"


def same(one: Response, other: Response) -> None:
    expect(one == other, f"the two answers differ: {one} and {other}")


def _code(body: bytes) -> str | None:
    try:
        return msgspec.json.decode(body, type=settled(Error)).error
    except msgspec.MsgspecError:
        return None


def _shortened(body: bytes) -> str:
    return body[:300].decode(errors="replace")
