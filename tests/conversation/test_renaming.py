"""Under another name a peer has all that it had: nothing is lost, doubled or left behind."""

from __future__ import annotations

import pytest

from conversation.world import staged
from portable.journeys import given, manager
from souvenance.domain.archive_records import encode
from souvenance.domain.audit import OK
from souvenance.gate import messages as m
from souvenance.gate import operations as o


def rename(owner, peer="alice", name="ann", limit=1000):
    """Rename to the end; how many lines were taken along, and in how many parts."""
    after, lines, parts = None, 0, 0
    while True:
        told = owner.told("POST", f"/peers/{peer}/rename", {"name": name, "after": after, "limit": limit})
        lines, parts, after = lines + told["lines"], parts + 1, told["after"]
        if after is None:
            return lines, parts


def furnish(owner, stage):
    """Two sessions with everything that is made of what is said, and lines put by hand."""
    owner.open("peers", "alice", metadata={"age": 30}, configuration={"observe_me": True})
    owner.open("sessions", "s", peers={"alice": {}, "bot": {"observe_others": True}})
    owner.say(
        "s", "I have a cat called Chess. I live in Oslo.", ("bot", "Noted."), ("alice", "I live in Rome.")
    )
    owner.say("t", "I have two kids.", ("bot", "How nice."))
    stage.rest()
    stage.world.put(manager(stage.world, sub="alice"), "Fly to Lisbon.", namespace="travel")


def known(owner, peer):
    """What every reader is told of one name."""
    return {
        "messages": {
            one["content"]
            for session in ("s", "t")
            for one in owner.messages(session)
            if one["peer_id"] == peer
        },
        "own": owner.held(observer_id=peer, observed_id=peer),
        "bot's": owner.held(observer_id="bot", observed_id=peer),
        "card": owner.card(peer),
        "bot's card": owner.card("bot", target=peer),
        "found": owner.search(f"/peers/{peer}", "chess"),
        "sessions": [one["id"] for one in owner.told("POST", f"/peers/{peer}/sessions")["items"]],
        "representation": owner.representation(peer).replace(f"{peer}: ", ""),
    }


@pytest.mark.parametrize("limit", [1000, 2, 1])
def test_all_that_was_known_of_a_peer_is_known_of_its_new_name(owner, stage, limit):
    furnish(owner, stage)
    before = known(owner, "alice")
    assert before["own"] and before["bot's"] and before["card"] and before["bot's card"]
    _, parts = rename(owner, limit=limit)
    assert known(owner, "ann") == before
    assert parts > 1 if limit < 3 else parts == 1


@pytest.mark.parametrize("limit", [1000, 2])
def test_nothing_is_left_under_the_old_name(owner, stage, limit):
    furnish(owner, stage)
    rename(owner, limit=limit)
    stage.rest()
    names = {one["id"] for one in owner.told("POST", "/peers/list", {})["items"]}
    assert names == {"ann", "bot"}
    assert not any(b'"alice"' in encode(record) for record in given(stage.world))


def test_only_names_change_of_what_can_be_taken_along(owner, stage):
    furnish(owner, stage)
    line = stage.world.put(manager(stage.world, sub="alice"), "Fly to Porto.", namespace="travel")
    asked = m.Invalidate(id=line, text="Fly to Faro.")
    stage.world.call(o.INVALIDATE, manager(stage.world, sub="alice", ops=["invalidate"]), asked)

    def shape(records):
        kept = [one for one in records if getattr(one, "kind", "") != "card"]
        return sorted(encode(one).replace(b'"alice"', b'"ann"') for one in kept)

    before = shape(given(stage.world))
    rename(owner, limit=3)
    assert shape(given(stage.world)) == before


def test_lines_put_by_hand_are_found_under_the_new_name_alone(owner, stage):
    furnish(owner, stage)
    rename(owner, limit=2)
    asked = m.Get("where do I fly?")
    ann = stage.world.call(o.GET, stage.world.issue(sub="ann", wid="w"), asked)
    assert [line.text for line in ann.lines if line.matched] == ["Fly to Lisbon."]
    assert stage.world.call(o.GET, stage.world.issue(sub="alice", wid="w"), asked).lines == []


def test_a_second_time_nothing_is_left_to_do(owner, stage):
    furnish(owner, stage)
    rename(owner)
    before = given(stage.world)
    assert rename(owner) == (0, 1)
    assert given(stage.world) == before


def test_who_was_never_there_gets_no_name(owner, stage):
    furnish(owner, stage)
    before = given(stage.world)
    assert rename(owner, "nobody", "somebody") == (0, 1)
    assert given(stage.world) == before


def test_what_was_stopped_midway_is_gone_on_with(owner, stage):
    furnish(owner, stage)
    before = known(owner, "alice")
    owner.told("POST", "/peers/alice/rename", {"name": "ann", "limit": 1})
    owner.say("s", "I have a dog called Judo.")
    stage.rest()
    rename(owner)
    stage.rest()
    after = known(owner, "ann")
    assert after["messages"] == before["messages"] | {"I have a dog called Judo."}
    assert {*before["own"]} < {*after["own"]} and {*before["bot's"]} < {*after["bot's"]}
    assert {*before["card"]} < {*after["card"]}


def test_what_was_not_yet_reasoned_about_is_reasoned_about_under_the_new_name(owner, stage):
    furnish(owner, stage)
    owner.say("s", "I have a dog called Judo.")
    rename(owner)
    stage.rest()
    assert any("Judo" in one for one in owner.held(observer_id="ann", observed_id="ann"))
    assert any("Judo" in one for one in owner.held(observer_id="bot", observed_id="ann"))
    assert owner.held(observed_id="alice") == []


def test_two_who_become_one_have_what_both_had(owner, stage):
    furnish(owner, stage)
    owner.open("sessions", "s", peers={"ann": {}})
    owner.say("s", ("ann", "I have a dog called Judo."))
    owner.say("u", ("ann", "I have a horse called Rice."))
    stage.rest()
    mine, others = known(owner, "ann"), known(owner, "alice")
    rename(owner)
    both = known(owner, "ann")
    assert both["messages"] == mine["messages"] | others["messages"]
    assert both["own"] == sorted([*mine["own"], *others["own"]])
    assert {*both["card"]} == {*mine["card"], *others["card"]}
    assert {*both["sessions"]} == {"s", "t", "u"}
    owner.told("DELETE", "/sessions/s/peers", ["ann"])
    assert "ann" not in owner.members("s")


def test_the_doctor_is_content_with_two_who_knew_each_other_and_became_one(owner, stage):
    owner.open("sessions", "s", peers={peer: {"observe_others": True} for peer in ("alice", "ann")})
    owner.say("s", "I have a cat called Chess.", ("ann", "I have a dog called Judo."))
    stage.rest()
    assert owner.card("alice", target="ann") and owner.card("ann", target="alice")
    rename(owner)
    assert {*owner.card("ann")} == {"Pets: a cat called Chess", "Pets: a dog called Judo"}
    told = stage.world.call(o.RECONCILE, stage.world.operator(), m.Reconcile("w"))
    assert told.findings == []


def test_an_agent_keeps_what_it_knows_of_people_under_its_new_name(owner, stage):
    furnish(owner, stage)
    held, card = owner.held(observer_id="bot", observed_id="alice"), owner.card("bot", target="alice")
    assert held and card
    rename(owner, "bot", "hal")
    assert owner.held(observer_id="hal", observed_id="alice") == held
    assert owner.card("hal", target="alice") == card
    owner.say("s", "I have a dog called Judo.")
    stage.rest()
    assert len(owner.held(observer_id="hal", observed_id="alice")) > len(held)


def test_the_same_said_again_is_known_again(owner, stage):
    furnish(owner, stage)
    rename(owner)
    held = owner.held(observer_id="ann", observed_id="ann")
    owner.say("s", ("ann", "I have a cat called Chess."))
    stage.rest()
    assert owner.held(observer_id="ann", observed_id="ann") == held


def test_what_is_deleted_afterwards_takes_along_what_rests_on_it(owner, stage):
    furnish(owner, stage)
    rename(owner)
    owner.told("DELETE", "/sessions/t")
    assert not any("kids" in one for one in owner.held())
    owner.told("DELETE", "/peers/ann")
    assert owner.held(observed_id="ann") == []


def test_the_log_tells_who_is_called_what_now_and_the_doctor_is_content(owner, stage):
    furnish(owner, stage)
    rename(owner, limit=2)
    with stage.world.store.read() as tx:
        rows = [row.event for row in tx.audit.rows("w", 0, 1000) if row.event.operation == "peers.rename"]
    assert len(rows) > 1 and {row.outcome for row in rows} == {OK}
    assert all('"renamed":["alice","ann"]' in row.detail for row in rows)
    told = stage.world.call(o.RECONCILE, stage.world.operator(), m.Reconcile("w"))
    assert told.findings == []


def test_no_byte_of_what_lay_under_the_old_name_is_left(owner, stage, tmp_path):
    furnish(owner, stage)
    rename(owner)
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    with stage.world.store.read() as tx:
        assert not tx.keys.of("w", "alice")
        assert not [compartment for compartment in tx.lines.compartments() if compartment.owner == "alice"]
    assert b"chess" not in content


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"ops": ["put", "get", "list"]}, "cap_op_mismatch"),
        ({"ops": ["forget", "get", "list"]}, "cap_op_mismatch"),
        ({"peers": ["alice", "ann"]}, "cap_scope_mismatch"),
        ({"sessions": ["s"]}, "cap_scope_mismatch"),
        ({"namespaces_allowed": ["default", "travel"]}, "namespace_denied"),
        ({"wid": "other"}, "cap_scope_mismatch"),
    ],
)
def test_only_who_may_write_and_forget_all_of_a_workspace_renames(owner, stage, changed, code):
    furnish(owner, stage)
    before = given(stage.world)
    whole = {"namespaces_allowed": ["*"], "ops": ["put", "forget"]}
    narrow = stage.speaker(stage.cap(**{**whole, **changed}))
    assert narrow.code("POST", "/peers/alice/rename", {"name": "ann"})[1] == code
    assert given(stage.world) == before
    allowed = stage.speaker(stage.cap(**whole))
    assert allowed.code("POST", "/peers/alice/rename", {"name": "ann"}) == 200


@pytest.mark.parametrize("name", ["alice", "@sessions", "*", "a b", ""])
def test_not_every_name_is_one(owner, stage, name):
    furnish(owner, stage)
    assert owner.ask("POST", "/peers/alice/rename", {"name": name}).status_code == 422


def test_a_part_that_fails_changes_nothing(tmp_path):
    with staged(tmp_path) as stage:
        furnish(stage.owner, stage)
        line = stage.world.put(manager(stage.world, sub="alice"), "One thing.", namespace="travel")
        mine = m.Put("Another.", "travel", line)
        stage.world.call(o.PUT, manager(stage.world, sub="ann"), mine)
        before = given(stage.world)
        assert stage.owner.code("POST", "/peers/alice/rename", {"name": "ann"}) == (409, "conflict")
        assert given(stage.world) == before
