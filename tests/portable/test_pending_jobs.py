"""Work that was still to be done goes along with an export, and is done where it is imported, once."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from conversation.world import staged
from portable.journeys import DIGEST, counts, given, manager, taken
from portable.moments import mine
from souvenance.domain.archive_records import Owed, Particulars, decode_owed, encode
from souvenance.domain.jobs import REASONING
from souvenance.errors import InvalidInput, NamespaceDenied, NotFound
from souvenance.gate import archive as p
from stores import settings_of
from surfaces.door import souvenance

SAID = ("I live in Bonn.", "I work as a baker.", "My sister is called Mia.")


@pytest.fixture
def here():
    """Where something was said, and nothing came of it yet."""
    with staged() as stage:
        stage.owner.say("s", *SAID)
        stage.owner.say("t", "I like pears.", peer="bob")
        yield stage


@pytest.fixture
def there():
    with staged() as stage:
        yield stage


def owed(stage, cap=None, *, owner=None, limit=2):
    """The work that goes along, page by page."""
    cap, cursor, found = cap or manager(stage.world), None, []
    while True:
        page = stage.world.call(p.EXPORT, cap, p.Export(owner, cursor, limit))
        found += page.owed
        cursor = page.cursor
        if cursor is None:
            return found


def listed(stage):
    """The work that waits, without its numbers."""
    with stage.world.store.read() as tx:
        return [replace(task, seq=0) for task in tx.work.owed("w", REASONING, limit=100)]


def brought(stage, records, work, *, at_once=1, digest=DIGEST):
    """Bring all of it in, the work in parts."""
    cap = manager(stage.world)
    stage.world.call(p.IMPORT_BEGIN, cap, p.ImportBegin(digest, counts(records)))
    taken(stage.world, records)
    for first in range(0, len(work), at_once):
        part = tuple(work[first : first + at_once])
        stage.world.call(p.IMPORT_FINISH, cap, p.ImportFinish(digest, part, first, more=True))
    return stage.world.call(p.IMPORT_FINISH, cap, p.ImportFinish(digest))


def test_what_waits_there_waits_here_and_comes_to_the_same(here, there):
    work = owed(here)
    assert {one.kind for one in work} >= {"derive"}
    assert [decode_owed(encode(one)) for one in work] == work
    brought(there, given(here.world), work)
    assert listed(there) == listed(here) != []
    here.rest()
    there.rest()
    assert there.owner.held() == here.owner.held() != []


def test_work_that_somebody_has_begun_goes_along(here):
    before = owed(here)
    with here.world.store.claim() as tx:
        assert tx.work.claim("somebody", now=here.clock.ms, until=here.clock.ms + 1000, most=9)
    assert owed(here) == before


def test_it_is_owed_once_however_often_it_comes(here, there):
    records, work = given(here.world), owed(here)
    brought(there, records, work)
    waiting = listed(there)
    brought(there, records, work, at_once=100)
    assert listed(there) == waiting
    there.rest()
    known = there.owner.conclusions()
    brought(there, records, work)
    brought(there, records, work, digest="cd" * 32)
    there.rest()
    assert [one["content"] for one in there.owner.conclusions()] == [one["content"] for one in known]


def test_an_import_that_was_interrupted_goes_on_where_it_ended(here, there):
    records, work, cap = given(here.world), owed(here), manager(there.world)
    there.world.call(p.IMPORT_BEGIN, cap, p.ImportBegin(DIGEST, counts(records)))
    taken(there.world, records)
    there.world.call(p.IMPORT_FINISH, cap, p.ImportFinish(DIGEST, tuple(work[:1]), 0, more=True))
    with pytest.raises(InvalidInput):
        there.world.call(p.IMPORT_FINISH, cap, p.ImportFinish(DIGEST, tuple(work[2:]), 2, more=True))
    brought(there, records, work, at_once=2)
    assert listed(there) == listed(here)


def test_what_an_older_version_passed_over_is_owed_when_the_same_comes_again(here, there):
    records = given(here.world)
    brought(there, records, [])
    assert listed(there) == []
    brought(there, records, owed(here))
    assert listed(there) == listed(here) != []


def test_the_store_that_it_came_from_has_nothing_more_to_do(here):
    waiting = listed(here)
    brought(here, given(here.world), owed(here))
    assert listed(here) == waiting


def test_one_owner_takes_no_work_along_and_a_narrow_cap_only_its_own(here):
    assert owed(here, owner="alice") == []
    narrow = manager(here.world, namespaces_allowed=["travel"])
    assert owed(here, narrow) == []


BAD = [
    Owed(kind="derive", due=1, session="s"),
    Owed(kind="derive", due=1, peer="ann"),
    Owed(kind="summarise", due=1, session="s"),
    Owed(kind="dream", due=1, peer="ann"),
    Owed(kind="derive", due=1, session="s", peer="a\nb"),
    Owed(kind="dream", due=1, peer="ann", particulars=Particulars(observer="\0")),
]


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_work_that_says_not_what_to_do_is_refused(there, bad):
    cap = manager(there.world)
    there.world.call(p.IMPORT_BEGIN, cap, p.ImportBegin(DIGEST, {}))
    with pytest.raises(InvalidInput):
        there.world.call(p.IMPORT_FINISH, cap, p.ImportFinish(DIGEST, (bad,)))
    assert listed(there) == []


def test_work_comes_only_with_an_import_and_into_namespaces_that_the_cap_opens(there):
    work = (Owed(kind="dream", due=1, peer="ann", particulars=Particulars(observer="ann")),)
    with pytest.raises(NotFound):
        there.world.call(p.IMPORT_FINISH, manager(there.world), p.ImportFinish(DIGEST, work))
    there.world.call(p.IMPORT_BEGIN, manager(there.world), p.ImportBegin(DIGEST, {}))
    narrow = manager(there.world, namespaces_allowed=["travel"])
    with pytest.raises(NamespaceDenied):
        there.world.call(p.IMPORT_FINISH, narrow, p.ImportFinish(DIGEST, work))


def test_the_command_line_takes_it_along_and_brings_it_in_once(home, tmp_path):
    archive, other = tmp_path / "all.souvenance", tmp_path / "other"
    with mine(home, **settings_of(home)) as me:
        me.say(*SAID)
        with me.installation._store.read() as tx:
            waiting = tx.work.owed("default", REASONING, limit=100)
    told = souvenance("export", str(archive), home=home).out
    assert "were still to be reasoned about: the import does so" in told
    for _ in range(2):
        souvenance("import", str(archive), home=other)
        with mine(other, **settings_of(other)) as there, there.installation._store.read() as tx:
            found = tx.work.owed("default", REASONING, limit=100)
        assert [replace(one, seq=0) for one in found] == [replace(one, seq=0) for one in waiting] != []
