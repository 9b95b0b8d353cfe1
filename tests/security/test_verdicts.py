"""No answer without the gate's verdict and its row, however busy the server is, and without the right to chat
no key is spent."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import contextmanager
from datetime import timedelta, tzinfo

import pytest
from msgspec.structs import replace
from starlette.applications import Starlette

from chat.stage import KEY, Stage, a_stage, asked
from model.stand_in import a_stand_in
from processes import PATIENCE_SECONDS, until
from running import running
from souvenance.config import settings_from
from souvenance.domain.capability import OPS, read_unverified
from souvenance.domain.proof import Bound
from souvenance.domain.upstream import ChatSettings, Upstream
from souvenance.errors import Denied, RateLimited, Unauthenticated
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.messages import ADD_MESSAGES, AddMessages, NewMessage
from souvenance.gate.token_verifier import Credentials
from souvenance.installation import open_installation
from souvenance.pauses import may_pause, pause
from souvenance.surfaces.http.app import guarded, make_app
from souvenance.surfaces.http.chat.door import ChatDoor
from souvenance.surfaces.http.request_bodies import Bodies
from souvenance.surfaces.http.request_threads import MOST_WAITING, RequestThreads

TIMES = 15


@pytest.fixture
def installation(home):
    found = open_installation(settings_from({"SOUVENANCE_EMBEDDER": "none"}, str(home)))
    yield found
    found.close()


@contextmanager
def a_server(installation, hands):
    """The chat door alone, with these threads; it waits for what memory recalls as long as by default."""
    with a_stand_in() as model:
        door = ChatDoor(ChatSettings((Upstream(model.url, KEY),)), cap=installation.owner_cap)
        routes = Starlette(routes=door.routes(installation.gate, hands), lifespan=lambda app: door.open())
        app = guarded(routes, None, None, None, Bodies(installation.gate.limits))
        with running(app) as url:
            stage = Stage(installation, model, url)
            try:
                yield stage
            finally:
                stage.close()


@contextmanager
def a_long_search(installation, hands, cap=None):
    """Meanwhile somebody keeps the thread that reads: with no cap given, somebody in another workspace."""
    cap = cap or Stage(installation, None, workspace="elsewhere").mint("mallory", ops=("get",))
    begun, over = threading.Event(), threading.Event()

    def read():
        begun.set()
        over.wait()
        return m.Get()

    searching = threading.Thread(
        target=lambda: asyncio.run(hands.call(installation.gate, o.GET, Credentials(cap), read))
    )
    searching.start()
    begun.wait()
    try:
        yield over
    finally:
        over.set()
        searching.join()


def rows(installation, cap):
    """Operation and outcome of each row that the cap left."""
    jti = installation.gate.call(o.WHOAMI, Credentials(cap), m.Nothing()).jti
    return [(row.operation, row.outcome) for row in all_rows(installation) if row.cap == jti][:-1]


def all_rows(installation, workspace="default"):
    owner = Stage(installation, None, workspace=workspace).mint("auditor", ops=("audit",), peers=("*",))
    return installation.gate.call(o.AUDIT, Credentials(owner), m.AuditList(limit=1000)).rows


def test_every_answer_has_its_row_while_another_searches(installation):
    hands = RequestThreads(installation.gate)
    with a_server(installation, hands) as stage, a_long_search(installation, hands):
        cap = stage.mint("ann", ops=("chat",), namespaces_allowed=())
        for _ in range(TIMES):
            assert stage.say(cap, "hello there").status_code == 200
        assert rows(installation, cap) == [("chat", "ok")] * TIMES


def test_a_recall_that_is_not_there_in_time_is_told_and_the_row_is_there_all_the_same(installation):
    hands = RequestThreads(installation.gate)
    with a_server(installation, hands) as stage, a_long_search(installation, hands):
        cap = stage.mint("ann")
        answer = stage.say(cap, "hello there")
        assert (answer.status_code, answer.headers["x-souvenance-memory"]) == (200, "out-of-reach")
        assert ("chat", "ok") in rows(installation, cap)


def test_a_revoked_token_is_refused_at_once_while_another_searches(installation, home):
    hands = RequestThreads(installation.gate)
    with a_server(installation, hands) as stage, a_long_search(installation, hands):
        cap = stage.mint("ann")
        assert stage.say(cap, "hello there").status_code == 200
        other = open_installation(settings_from({"SOUVENANCE_EMBEDDER": "none"}, str(home)))
        other.gate.call(o.REVOKE, Credentials(other.owner_cap), m.Revoke(sub="ann"))
        other.close()
        refused = stage.say(cap, "hello there")
        assert (refused.status_code, refused.json()["error"]["code"]) == (401, "cap_revoked")
        assert len(stage.model.asked) == 1


@pytest.mark.parametrize("lacking", ["cap_revoked", "cap_op_mismatch", "cap_expired"])
def test_a_request_is_judged_before_it_waits_for_the_work_of_others(installation, home, lacking):
    hands, stage = RequestThreads(installation.gate), Stage(installation, None)
    ops = ("put",) if lacking == "cap_op_mismatch" else ("get",)
    cap = stage.mint("ann", ops=ops, ttl_seconds=1 if lacking == "cap_expired" else 600)
    if lacking == "cap_revoked":
        other = open_installation(settings_from({"SOUVENANCE_EMBEDDER": "none"}, str(home)))
        other.gate.call(o.REVOKE, Credentials(other.owner_cap), m.Revoke(sub="ann"))
        other.close()
    expires = read_unverified(cap)[0][0].exp
    until(lambda: lacking != "cap_expired" or time.time() > expires)
    with a_long_search(installation, hands), pytest.raises((Unauthenticated, Denied)) as refused:
        asyncio.run(
            asyncio.wait_for(hands.call(installation.gate, o.GET, Credentials(cap), m.Get), PATIENCE_SECONDS)
        )
    assert refused.value.code == lacking
    jti = read_unverified(cap)[0][0].jti
    assert [row.outcome for row in all_rows(installation) if row.cap == jti] == [lacking]


def test_tokens_and_the_log_wait_for_no_search(installation):
    hands, owner = RequestThreads(installation.gate), Credentials(installation.owner_cap)

    def ask(operation, request):
        asked = hands.call(installation.gate, operation, owner, lambda: request)
        return asyncio.run(asyncio.wait_for(asked, PATIENCE_SECONDS))

    with a_long_search(installation, hands):
        made = ask(o.MINT, m.Mint("ann", ("get",), ("*",)))
        assert ask(o.ATTENUATE, m.Attenuate(cap=made.cap)).cap.startswith(made.cap.rpartition("~")[0])
        assert ask(o.REVOKE, m.Revoke(jti=made.jti)).revoked == made.jti
        assert {"caps.mint", "caps.attenuate", "caps.revoke"} <= {
            row.operation for row in ask(o.AUDIT, m.AuditList(limit=1000)).rows
        }


def test_who_writes_long_texts_without_end_leaves_a_thread_to_others(installation):
    """Each of them waits for the turn to compute, which another has."""
    hands, stage = RequestThreads(installation.gate), Stage(installation, None)
    long = "A line of a long text. " * 500
    noisy = Credentials(stage.mint("noisy"), None, Bound("", "", long.encode()))
    quiet = Credentials(stage.mint("quiet"))

    async def flood(over):
        def put(who, text):
            return asyncio.create_task(
                hands.call(installation.gate, o.PUT, who, lambda: m.Put(text=text, namespace="default"))
            )

        many = [put(noisy, long) for _ in range(20)]
        async with asyncio.timeout(PATIENCE_SECONDS):
            await put(quiet, "A line")
        over.set()
        return await asyncio.gather(*many)

    with a_long_search(installation, hands) as over:
        assert len(asyncio.run(flood(over))) == 20


def test_without_the_right_to_chat_the_endpoint_s_key_is_not_spent(home):
    with a_stage(home) as stage:
        cap = stage.mint("ann", ops=tuple(op for op in OPS if op != "chat"))
        client = stage.client(cap)
        for answer in (
            client.post("/chat/completions", json=asked("hi")),
            client.post("/responses", json={"model": "m", "input": "hi"}),
            client.get("/models"),
            client.get("/models/parrot-1"),
        ):
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "cap_op_mismatch")
        assert not stage.model.asked
        assert rows(stage.installation, cap) == [("chat", "cap_op_mismatch")] * 4


def test_a_token_whose_requests_wait_already_is_refused_with_a_row_and_no_other_is(installation):
    hands = RequestThreads(installation.gate)
    noisy, quiet = (Stage(installation, None).mint(sub, ops=("get",)) for sub in ("noisy", "quiet"))

    async def get(cap):
        return await hands.call(installation.gate, o.GET, Credentials(cap), m.Get)

    async def flood():
        waiting = [asyncio.create_task(get(noisy)) for _ in range(MOST_WAITING)]
        await asyncio.sleep(0)
        with pytest.raises(RateLimited):
            await get(noisy)
        waiting.append(asyncio.create_task(get(quiet)))
        await asyncio.sleep(0)
        over.set()
        await asyncio.gather(*waiting)

    assert (
        rows(installation, noisy) == rows(installation, quiet) == []
    )  # And the gate knows both tokens by now.
    with a_long_search(installation, hands, noisy) as over:
        asyncio.run(flood())
    found = rows(installation, noisy)
    assert found.count(("memory.get", "rate_limited")) == 1
    assert found.count(("memory.get", "ok")) == 1 + MOST_WAITING
    assert ("memory.get", "ok") in rows(installation, quiet)


class Wall(tzinfo):
    """A wall clock that notes, whenever a text is analysed by it, whether the store was held for writing."""

    def __init__(self):
        self.seen = []
        self.lock = None

    def utcoffset(self, moment):
        if self.lock is not None:
            self.seen.append(self.lock.locked())
        return timedelta(0)

    def dst(self, moment):
        return timedelta(0)


@pytest.mark.embedded("it looks at the lock of the file")
def test_nobody_holds_the_store_while_a_long_text_is_analysed(home):
    wall = Wall()
    installation = open_installation(
        replace(settings_from({"SOUVENANCE_EMBEDDER": "none"}, str(home)), zone=wall)
    )
    try:
        owner = Credentials(installation.owner_cap)
        wall.lock = installation._store._engine._lock
        long = "On Monday I planted an oak beside the well. " * 1000
        installation.gate.call(o.PUT, owner, m.Put(text=long, namespace="garden"))
        said = NewMessage(content=long[:20_000], peer_id="ann")
        installation.gate.call(
            ADD_MESSAGES, owner, AddMessages(workspace_id="w", session_id="s", messages=[said])
        )
        assert wall.seen
        assert not any(wall.seen)
        found = installation.gate.call(o.GET, owner, m.Get(query="Where did I plant the oak?")).lines
        assert [line.matched for line in found] == [True]
    finally:
        installation.close()


def told_while_another_computes(installation, token, *, waits):
    """What is done first when a verdict is asked for: its answer sent, or something computed."""
    events: list[str] = []

    def compute():
        with may_pause(longest=600.0):
            pause()
            events.append("computed")

    computing = threading.Thread(target=compute)

    async def send(message):
        if message["type"] == "http.response.start":
            computing.start()
            if not waits:
                computing.join(60)
        else:
            events.append("sent")

    headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {token}".encode())]
    scope = {"type": "http", "method": "GET", "path": "/v1/caps/whoami", "headers": headers}
    asyncio.run(make_app(installation.gate)({**scope, "query_string": b""}, None, send))
    computing.join()
    return events


def test_computing_pauses_until_a_verdict_is_sent_but_for_no_unknown_token(installation):
    cap = Stage(installation, None).mint("ann", ops=("get",))
    installation.gate.call(o.WHOAMI, Credentials(cap), m.Nothing())
    assert told_while_another_computes(installation, cap, waits=True) == ["sent", "computed"]
    assert told_while_another_computes(installation, f"{cap}x", waits=False) == ["computed", "sent"]
