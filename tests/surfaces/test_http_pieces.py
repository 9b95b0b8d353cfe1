"""A long answer is sent in pieces, so that others are answered meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from souvenance.domain.limits import Limits
from souvenance.surfaces.http.app import guarded
from souvenance.surfaces.http.request_bodies import Bodies

SCOPE = {
    "type": "http",
    "method": "GET",
    "path": "/",
    "headers": [(b"host", b"127.0.0.1")],
    "query_string": b"",
}
PIECE = 64 * 1024


def sent(body: bytes, meanwhile=None) -> list[dict]:
    """The parts of an answer with that body."""
    parts: list[dict] = []

    async def answer(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    async def send(message):
        parts.append(message)
        if meanwhile is not None:
            asyncio.get_running_loop().call_soon(meanwhile, len(parts))

    application = guarded(answer, None, None, None, Bodies(Limits()))
    asyncio.run(application(dict(SCOPE), None, send))
    return parts[1:]


@pytest.mark.parametrize("size", [0, 1, PIECE, PIECE + 1, 20 * PIECE, 20 * PIECE + 7])
def test_the_pieces_are_the_answer_and_none_is_long(size):
    body = bytes(number % 251 for number in range(size))
    parts = sent(body)
    assert b"".join(bytes(part["body"]) for part in parts) == body
    assert all(len(part["body"]) <= PIECE for part in parts)
    assert [part.get("more_body", False) for part in parts] == [True] * (len(parts) - 1) + [False]


def test_others_come_between_the_pieces():
    seen: list[int] = []
    parts = sent(b"x" * (3 * PIECE), seen.append)
    assert len(parts) == 3
    assert seen[-1] == 4 and 2 in seen and 3 in seen
