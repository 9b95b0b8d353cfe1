"""What is exported and imported elsewhere is the same there, down to the byte."""

from __future__ import annotations

import pytest
from hypothesis import given as whatever
from hypothesis import settings
from hypothesis import strategies as st
from msgspec.structs import replace

from conversation.test_doctor import Life
from conversation.world import staged
from portable.journeys import DIGEST, counts, exported, given, manager, taken
from souvenance.domain.archive_records import LineRecord, SessionRecord, WorkspaceRecord
from souvenance.domain.directory import MEMBER
from souvenance.gate import archive as p
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate import retention as t


def lived(stage, seed, steps=40):
    """A workspace after a while of everything that the door lets do."""
    Life(stage.owner, seed).live(steps)
    stage.rest()
    cap = manager(stage.world, sub="ann")
    first = stage.world.put(cap, "The boat is red.", occurred_at=None)
    stage.world.call(o.INVALIDATE, cap, m.Invalidate(id=first, text="The boat is blue."))
    stage.owner.told("POST", "/webhooks", {"url": "https://example.org/hear"})
    stage.world.call(t.SET, manager(stage.world), t.SetRule("yearly", "forget", 365, kind="message"))


@settings(max_examples=8, deadline=None)
@whatever(st.integers(0, 10_000), st.integers(1, 60))
def test_an_export_of_an_import_of_an_export_is_that_export(seed, steps):
    with staged() as here, staged() as there:
        lived(here, seed, steps)
        records = given(here.world)
        answer = taken(there.world, records)
        assert (answer.new, answer.same, answer.conflicts) == (len(records), 0, [])
        assert exported(there.world, limit=50) == exported(here.world, limit=3)


@pytest.mark.parametrize("seed", [3, 4])
def test_what_was_imported_is_known_and_found_as_it_was(tmp_path, seed):
    with staged() as here, staged(tmp_path) as there:
        lived(here, seed, 60)
        taken(there.world, given(here.world))
        for session in ("s0", "s1", "s2"):
            if here.owner.ask("GET", f"/sessions/{session}/peers").status_code == 200:
                assert there.owner.messages(session) == here.owner.messages(session)
                assert there.owner.summaries(session) == here.owner.summaries(session)
        assert there.owner.conclusions() == here.owner.conclusions()
        for peer in ("ann", "bo", "cy"):
            assert there.owner.card(peer) == here.owner.card(peer)
        ann = manager(there.world, sub="ann")
        assert "The boat is blue." in there.world.texts(ann, "which colour has the boat?")
        assert "The boat is red." not in there.world.texts(ann, "which colour has the boat?")


def test_taking_the_same_again_changes_nothing_and_writes_nothing():
    with staged() as here, staged() as there:
        lived(here, 5)
        records = given(here.world)
        taken(there.world, records)
        before = exported(there.world)
        again = taken(there.world, records)
        assert (again.new, again.same, again.conflicts) == (0, len(records), [])
        assert exported(there.world) == before


def test_an_import_that_stopped_in_the_middle_is_gone_on_with():
    with staged() as here, staged() as there:
        lived(here, 6)
        records = given(here.world)
        taken(there.world, records[: len(records) // 2])
        answer = taken(there.world, records)
        assert answer.new == len(records) - len(records) // 2
        assert exported(there.world) == exported(here.world)


def test_what_differs_here_is_told_and_left_as_it_is():
    with staged() as here, staged() as there:
        lived(here, 7)
        records = given(here.world)
        taken(there.world, records)
        before = exported(there.world)
        line = next(one for one in records if isinstance(one, LineRecord) and one.text)
        altered = replace(line, text=line.text + " Or not.")
        answer = taken(there.world, [altered])
        assert answer.conflicts == [f"line {line.id}"]
        assert exported(there.world) == before


def test_another_conversation_under_the_same_name_is_a_conflict():
    with staged() as here, staged(seed=2) as there:
        here.owner.say("talk", "Hello from here.")
        there.owner.say("talk", "Hello from there.")
        answer = taken(there.world, given(here.world), look=True)
        assert "session talk" in answer.conflicts
        assert there.owner.texts("talk") == ["Hello from there."]


def test_members_that_are_missing_here_are_new():
    with staged() as here, staged() as there:
        here.owner.say("talk", ("ann", "I like tea."), ("bo", "I like rain."))
        records = given(here.world)
        taken(there.world, records)
        with there.world.store.write() as tx:
            tx.directory.remove_memberships("w", MEMBER, holder="talk", held="bo")
        session = [one for one in records if isinstance(one, SessionRecord)]
        assert taken(there.world, session, look=True) == p.ImportAnswer(1, 0, [])
        assert taken(there.world, session) == p.ImportAnswer(1, 0, [])
        assert exported(there.world) == exported(here.world)


def test_who_left_here_meanwhile_did_not_come_back():
    with staged() as here, staged() as there:
        here.owner.say("talk", ("ann", "I like tea."), ("bo", "I like rain."))
        records = given(here.world)
        taken(there.world, records)
        there.owner.told("DELETE", "/sessions/talk/peers", ["bo"])
        assert taken(there.world, records).conflicts == ["session talk"]
        assert there.owner.members("talk") == ["ann"]


def test_a_workspace_may_take_another_name():
    with staged() as here, staged() as there:
        lived(here, 8)
        records = given(here.world)
        taken(there.world, records, manager(there.world, "other"))
        found = given(there.world, manager(there.world, "other"))
        mine = [one for one in records if not isinstance(one, WorkspaceRecord)]
        assert [one for one in found if not isinstance(one, WorkspaceRecord)] == mine
        assert found[0].name == "other"
        assert given(there.world) == []


def test_turns_that_were_deleted_are_not_given_out_again():
    with staged() as here, staged() as there:
        here.owner.say("talk", "one", "two", "three")
        last = here.owner.messages("talk")[-1]["id"]
        here.owner.told("DELETE", f"/sessions/talk/messages/{last}")
        taken(there.world, given(here.world))
        there.owner.say("talk", "four")
        session = next(one for one in given(there.world) if isinstance(one, SessionRecord))
        assert session.turns == 4


def test_an_import_is_complete_once_all_of_it_is_there():
    with staged() as here, staged() as there:
        lived(here, 9)
        records, cap = given(here.world), manager(there.world)
        begun = p.ImportBegin(DIGEST, counts(records))
        assert not there.world.call(p.IMPORT_BEGIN, cap, begun).complete
        assert there.world.call(o.STATUS, cap, m.Nothing()).unfinished_imports == 1
        taken(there.world, records[:-1])
        assert there.world.code(p.IMPORT_FINISH, cap, p.ImportFinish(DIGEST)) == "conflict"
        assert not there.world.call(p.IMPORT_BEGIN, cap, begun).complete
        taken(there.world, records)
        there.world.call(p.IMPORT_FINISH, cap, p.ImportFinish(DIGEST))
        assert there.world.call(p.IMPORT_BEGIN, cap, begun).complete
        assert there.world.call(o.STATUS, cap, m.Nothing()).unfinished_imports == 0
        assert exported(there.world) == exported(here.world)


def test_an_import_that_never_began_can_not_end():
    with staged() as here:
        assert here.world.code(p.IMPORT_FINISH, manager(here.world), p.ImportFinish(DIGEST)) == "not_found"


def test_what_the_dreams_concluded_is_known_again_by_its_words():
    with staged() as here, staged() as there:
        here.owner.say("talk", "I live in Oslo.")
        here.rest()
        held = here.owner.held()
        taken(there.world, given(here.world))
        there.owner.say("talk", "I live in Oslo.")
        there.rest()
        assert there.owner.held() == held
