"""What a client is told whose request the server cancels because it stops."""

from __future__ import annotations

import asyncio
import json

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


async def cancelled(application):
    """What the server sends for a request that is cancelled as soon as it has begun."""
    begun, sent = asyncio.Event(), []

    async def answer(scope, receive, send):
        await application(send)
        begun.set()
        await asyncio.Event().wait()

    async def send(message):
        sent.append(message)

    answered = guarded(answer, None, None, None, Bodies(Limits()))
    request = asyncio.create_task(answered(dict(SCOPE), None, send))
    await begun.wait()
    request.cancel()
    await asyncio.wait([request])
    return request, sent


def test_a_request_that_the_server_cancels_is_answered_that_the_server_stops():
    async def nothing(send):
        pass

    request, (start, body) = asyncio.run(cancelled(nothing))
    assert not request.cancelled()
    assert start["status"] == 503
    assert json.loads(body["body"])["error"] == "unavailable"


def test_an_answer_that_has_begun_is_broken_off():
    async def begins(send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    request, sent = asyncio.run(cancelled(begins))
    assert request.cancelled()
    assert [message["status"] for message in sent] == [200]
