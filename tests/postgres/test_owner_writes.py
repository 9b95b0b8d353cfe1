"""The owner's cap, which is of every workspace, holds up nobody in others than it writes in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from portable.moments import mine
from processes import PATIENCE_SECONDS, until
from souvenance.adapters.sql.postgres import PostgresEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.errors import CapRevoked, InvalidInput
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.messages import ADD_MESSAGES, AddMessages, NewMessage
from souvenance.gate.conversation.peers import OPEN_PEER, OpenPeer
from souvenance.gate.conversation.resource import WorkspaceRequest
from souvenance.gate.conversation.workspaces import CHANGE_WORKSPACE, TRY_WEBHOOKS, ChangeWorkspace

_WAITING = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


@pytest.fixture
def me(home, url):
    with mine(home, SOUVENANCE_STORE=url) as found:
        found.call(o.PUT, m.Put("I like tea."))
        yield found


@pytest.fixture
def other(url):
    """Another process's connections."""
    store = SqlStore(PostgresEngine(url))
    yield store
    store.close()


@pytest.fixture
def hands():
    with ThreadPoolExecutor(2) as found:
        yield found


def said(workspace, text):
    message = NewMessage(content=text, peer_id="ann")
    return AddMessages(workspace_id=workspace, session_id="s", messages=[message])


def waiting(url):
    with psycopg.connect(url) as connection:
        return connection.execute(_WAITING).fetchone()[0]


def test_it_writes_in_one_workspace_while_another_is_written(me, other, hands):
    with other.write("elsewhere"):
        for operation, request in (
            (ADD_MESSAGES, said("here", "I am Ann.")),
            (o.PUT, m.Put("I like pears.")),
            (OPEN_PEER, OpenPeer(workspace_id="new", id="ann")),
            (CHANGE_WORKSPACE, ChangeWorkspace(workspace_id="here", metadata={"a": 1})),
        ):
            hands.submit(me.call, operation, request).result(PATIENCE_SECONDS)


def test_its_row_is_in_the_log_of_the_workspace_that_it_wrote_in(me):
    me.call(TRY_WEBHOOKS, WorkspaceRequest(workspace_id="unknown"))
    me.call(ADD_MESSAGES, said("new", "I am Ann."))
    for workspace, operation in (("unknown", "webhooks.test"), ("new", "messages.add")):
        with me.installation._store.read(workspace) as tx:
            assert [row.event.operation for row in tx.audit.rows(workspace, 0, 9)] == [operation]


def test_two_that_hold_it_write_two_workspaces_at_once(me, home, url, hands):
    with mine(home, SOUVENANCE_STORE=url) as another:
        first = hands.submit(lambda: [me.call(ADD_MESSAGES, said("a", f"{n}")) for n in range(20)])
        second = hands.submit(lambda: [another.call(ADD_MESSAGES, said("b", f"{n}")) for n in range(20)])
        for answers in (first.result(PATIENCE_SECONDS), second.result(PATIENCE_SECONDS)):
            assert len(answers) == 20


def test_it_waits_for_whoever_writes_in_the_same_workspace(me, other, url, hands):
    with other.write("here"):
        written = hands.submit(me.call, ADD_MESSAGES, said("here", "I am Ann."))
        until(lambda: waiting(url))
        assert not written.done()
    written.result(PATIENCE_SECONDS)


def test_what_is_of_all_workspaces_waits_for_all(me, other, url, hands):
    with other.write("elsewhere"):
        revoked = hands.submit(me.call, o.REVOKE, m.Revoke(sub="ann"))
        until(lambda: waiting(url))
        assert not revoked.done()
    revoked.result(PATIENCE_SECONDS)


def test_a_request_that_can_not_be_read_is_refused_after_its_cap(me):
    def unreadable():
        raise InvalidInput("the body can't be read")

    with pytest.raises(InvalidInput):
        me.call(o.PUT, unreadable)
    me.call(o.REVOKE, m.Revoke(jti=me.call(o.WHOAMI, m.Nothing()).jti))
    with pytest.raises(CapRevoked):
        me.call(o.PUT, unreadable)
