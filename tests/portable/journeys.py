"""Records on their way from one world to another."""

from __future__ import annotations

from souvenance.domain.archive_records import count_name, encode
from souvenance.gate import archive as p

DIGEST = "ab" * 32


def manager(world, workspace="w", **changed):
    """A cap of all of a workspace."""
    return world.issue(**{"sub": "manager", "wid": workspace, "peers": ["*"], **changed})


def given(world, cap=None, *, owner=None, limit=7):
    """Every record that the cap may take along, page by page."""
    cap, cursor, found = cap or manager(world), None, []
    while True:
        page = world.call(p.EXPORT, cap, p.Export(owner, cursor, limit))
        assert len(page.records) <= limit
        found += page.records
        cursor = page.cursor
        if cursor is None:
            return found


def exported(world, cap=None, **how):
    """The same, as an archive would hold it."""
    return b"".join(encode(record) for record in given(world, cap, **how))


def taken(world, records, cap=None, *, at_once=5, look=False):
    """Bring the records in, page by page; what became of them."""
    cap = cap or manager(world)
    whole = p.ImportAnswer(0, 0, [])
    for first in range(0, len(records), at_once):
        one = world.call(p.IMPORT, cap, p.Import(records[first : first + at_once], look))
        whole = p.ImportAnswer(whole.new + one.new, whole.same + one.same, whole.conflicts + one.conflicts)
    return whole


def counts(records):
    found = {}
    for record in records:
        found[count_name(record)] = found.get(count_name(record), 0) + 1
    return found
