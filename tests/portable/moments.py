"""Somebody who writes while somebody else takes a memory along."""

from __future__ import annotations

from contextlib import contextmanager

from souvenance import open_installation, settings_from
from souvenance.domain.archive_records import LineRecord, SessionRecord
from souvenance.gate import archive as p
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.messages import ADD_MESSAGES, AddMessages, NewMessage
from souvenance.gate.token_verifier import Credentials


class Mine:
    """An open house, and what its owner does there."""

    def __init__(self, home, **settings):
        self.installation = open_installation(
            settings_from({"SOUVENANCE_EMBEDDER": "none", **settings}, str(home))
        )
        self.owner = Credentials(self.installation.owner_cap)

    def call(self, operation, request):
        return self.installation.gate.call(operation, self.owner, request)

    def say(self, *texts):
        said = [NewMessage(content=text, peer_id="ann") for text in texts]
        self.call(ADD_MESSAGES, AddMessages(workspace_id="default", session_id="s", messages=said))

    def found(self, query):
        return [line.text for line in self.call(o.GET, m.Get(query)).lines]


@contextmanager
def mine(home, **settings):
    found = Mine(home, **settings)
    try:
        yield found
    finally:
        found.installation.close()


def taken_along(gate, owner, *, between=lambda: None):
    """All records of the workspace, in small pages, with something happening behind each."""
    found, cursor = [], None
    while True:
        page = gate.call(p.EXPORT, owner, p.Export(None, cursor, 3))
        found += page.records
        if page.cursor is None:
            return found
        cursor = page.cursor
        between()


def check_one_moment(me, other):
    """What others write meanwhile is in all of an export, or in none of it."""
    first = me.call(o.PUT, m.Put("I live in Bonn")).id
    me.say(*(f"Number {number}." for number in range(5)))
    before = taken_along(me.installation.gate, me.owner)
    rounds = iter(range(100))

    def write():
        number = next(rounds)
        other.say(f"Meanwhile {number}.")
        if number == 0:
            other.call(o.INVALIDATE, m.Invalidate(first, "I live in Berlin"))

    with me.installation.gate.still() as gate:
        assert taken_along(gate, me.owner, between=write) == before
        assert next(rounds) > 1
    after = taken_along(me.installation.gate, me.owner)
    [session] = [one for one in after if isinstance(one, SessionRecord)]
    said = [one.turn for one in after if isinstance(one, LineRecord) and one.turn is not None]
    assert session.turns == max(said) > 5
    assert next(one for one in after if getattr(one, "id", "") == first).invalidated_by is not None
    rows = me.call(o.AUDIT, m.AuditList(first=0, limit=1000)).rows
    assert [row.operation for row in rows].count("export.page") > 3 * 2, "each page has its row"
