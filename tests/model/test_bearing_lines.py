"""A fact by a model rests on the lines that say it, and goes with them."""

from __future__ import annotations

from model.world import fact, facts

IDLE = "The weather was lovely all day long today, wasn't it just."


def held(owner):
    return [one["content"] for one in owner.conclusions()]


def test_of_the_lines_that_the_model_names_those_stay_that_say_the_fact(thinker, endpoint):
    endpoint.plays(facts(fact("ann plays bass in the Foxes", "t1", "t2", "t3")))
    said = ["Bass in the Foxes, that is what I play.", IDLE, "I play bass in a band, the Foxes!"]
    assert [one.sources for one in thinker.facts(*said) if one.text == "ann plays bass in the Foxes"] == [
        ("id1", "id3")
    ]


def test_a_fact_goes_with_the_line_that_says_it_whatever_else_the_model_named(stage, owner, endpoint):
    endpoint.plays(facts(fact("alice is allergic to penicillin", "t1", "t2", card="Allergy: penicillin")))
    true, _ = owner.say("s", "I am allergic to penicillin.", IDLE)
    stage.rest()
    assert "alice is allergic to penicillin" in held(owner)
    owner.told("DELETE", f"/sessions/s/messages/{true['id']}")
    stage.rest()
    assert not any("penicillin" in one for one in held(owner))
    assert "penicillin" not in str(owner.card() or "")


def test_a_fact_that_needs_several_lines_goes_with_any_of_them(stage, owner, endpoint):
    told = "alice moved to Oslo in May 2020 for a job at Equinor"
    for at in (0, 1):
        session = f"s{at}"
        endpoint.plays(facts(fact(told, "t1", "t2")))
        said = owner.say(session, "I moved to Oslo.", "That was in May 2020, for a job at Equinor.")
        stage.rest()
        assert told in held(owner)
        owner.told("DELETE", f"/sessions/{session}/messages/{said[at]['id']}")
        stage.rest()
        assert told not in held(owner)


def test_a_fact_that_needs_several_lines_names_no_others(thinker, endpoint):
    told = "ann moved to Oslo in May 2020 for a job at Equinor"
    endpoint.plays(facts(fact(told, "t1", "t2", "t3", card="Lives in: Oslo")))
    said = ["I moved to Oslo.", IDLE, "That was in May 2020, for a job at Equinor."]
    [found] = [one for one in thinker.facts(*said) if one.text == told]
    assert (found.sources, found.together, found.trait) == (("id1", "id3"), True, None)


def test_an_idle_line_brings_nothing_back_that_was_read_before(thinker, endpoint):
    endpoint.plays(facts(fact("ann plays bass in the Foxes", "t1", "t2")))
    assert thinker.derived(IDLE, before=["Bass in the Foxes, that is what I play."]) == []
