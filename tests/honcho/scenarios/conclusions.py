"""Conclusions: made by hand or drawn from messages, newest first, found by meaning, deleted at once."""

from __future__ import annotations

from scenarios.claims import equal
from scenarios.conversations import INTRODUCTION, WORK, known
from scenarios.registry import scenario


def contents(conclusions):
    return [conclusion.content for conclusion in conclusions]


@scenario("Peer.conclusions", "Peer.conclusions_of", "ConclusionsView.create", "ConclusionsView.aio")
async def a_conclusion_made_by_hand_is_kept_as_it_is(world):
    ann, bob = await world.honcho.peer("ann"), await world.honcho.peer("bob")
    await world.honcho.session("talk")
    made = await ann.conclusions.create(
        [{"content": "Likes tea", "session_id": "talk"}, {"content": "Is tall"}]
    )
    equal(contents(made), ["Likes tea", "Is tall"])
    equal([(one.observer_id, one.observed_id, one.level) for one in made], [("ann", "ann", "explicit")] * 2)
    equal([one.session_id for one in made], ["talk", None])
    [other] = await bob.conclusions_of(ann).create([{"content": "Likes tea"}])
    equal((other.observer_id, other.observed_id), ("bob", "ann"))
    assert len({made[0].id, made[1].id, other.id}) == 3
    assert "Likes tea" in await ann.representation()
    assert "Is tall" not in await bob.representation(target="ann")


@scenario("ConclusionsView.list")
async def conclusions_are_listed_newest_first(world):
    ann, bob = await world.honcho.peer("ann"), await world.honcho.peer("bob")
    await world.honcho.session("talk")
    lines = [f"Fact {number}" for number in range(5)]
    for number, line in enumerate(lines):
        where = {"session_id": "talk"} if number < 2 else {}
        await ann.conclusions.create([{"content": line, **where}])
    await bob.conclusions_of("ann").create([{"content": "Bob's own"}])
    page = await ann.conclusions.list(size=2)
    equal((contents(page.items), page.total, page.pages), (["Fact 4", "Fact 3"], 5, 3))
    equal([one.content async for one in page], lines[::-1])
    equal(contents((await ann.conclusions.list(reverse=True)).items), lines)
    equal(contents((await ann.conclusions.list(session="talk")).items), ["Fact 1", "Fact 0"])
    filtered = await ann.conclusions.list(filters={"content": {"icontains": "FACT 3"}, "level": "explicit"})
    equal(contents(filtered.items), ["Fact 3"])
    equal(contents((await bob.conclusions_of(ann).list()).items), ["Bob's own"])
    for wrong in ({"level": "sure"}, {"colour": "blue"}):
        await world.refused(ann.conclusions.list(filters=wrong), world.sdk.UnprocessableEntityError)


@scenario("ConclusionsView.query")
async def conclusions_are_found_by_what_they_mean(world):
    ann, bob = await world.honcho.peer("ann"), await world.honcho.peer("bob")
    await ann.conclusions.create([{"content": text} for text in ("Drinks green tea", "Owns a red bicycle")])
    await bob.conclusions_of(ann).create([{"content": "Drinks black tea"}])

    async def found():
        return contents(await ann.conclusions.query("tea", top_k=1))

    equal(await world.eventually(found, "the tea is never found"), ["Drinks green tea"])
    equal(contents(await ann.conclusions.query("Which bicycle?", top_k=1)), ["Owns a red bicycle"])
    equal(contents(await bob.conclusions_of(ann).query("tea")), ["Drinks black tea"])
    equal(await ann.conclusions.query("tea", filters={"level": "deductive"}), [])
    assert len(await ann.conclusions.query("tea", distance=1.0)) <= 2


@scenario("ConclusionsView.delete")
async def a_deleted_conclusion_is_gone_at_once(world):
    ann = await world.honcho.peer("ann")
    keep, drop = await ann.conclusions.create([{"content": "Likes tea"}, {"content": "Hates the lighthouse"}])
    await ann.conclusions.delete(drop.id)
    equal([one.id for one in (await ann.conclusions.list()).items], [keep.id])
    assert "lighthouse" not in await ann.representation()
    equal([one.id for one in await ann.conclusions.query("lighthouse") if one.id == drop.id], [])
    await world.refused(ann.conclusions.delete(drop.id), world.sdk.NotFoundError)
    equal(world.raw("DELETE", f"/conclusions/{keep.id}").status_code, 204)


@scenario("ConclusionsView.create")
async def a_conclusion_needs_peers_and_a_session_that_exist(world):
    ann = await world.honcho.peer("ann")
    missing = world.sdk.NotFoundError
    await world.refused(ann.conclusions_of("nobody").create([{"content": "x"}]), missing)
    await world.refused(ann.conclusions.create([{"content": "x", "session_id": "nowhere"}]), missing)
    refused = world.sdk.UnprocessableEntityError
    await world.refused(ann.conclusions.create([]), refused)
    await world.refused(ann.conclusions.create([{"content": ""}]), refused)
    await world.refused(ann.conclusions.create([{"content": "x"}] * 101), refused)
    equal((await ann.conclusions.list()).total, 0)


@scenario("ConclusionsView.get", "ConclusionsView.get_many", since="2.7.0")
async def conclusions_are_fetched_by_their_ids(world):
    ann, bob = await world.honcho.peer("ann"), await world.honcho.peer("bob")
    tea, bicycle = await ann.conclusions.create([{"content": "Likes tea"}, {"content": "Owns a bicycle"}])
    [other] = await bob.conclusions_of(ann).create([{"content": "Sings"}])
    got = await ann.conclusions.get(tea.id)
    equal((got.content, got.created_at, got.times_derived), ("Likes tea", tea.created_at, 1))
    await world.refused(ann.conclusions.get(other.id), world.sdk.NotFoundError)
    await world.refused(ann.conclusions.get("no-such-conclusion-at"), world.sdk.NotFoundError)
    many = await ann.conclusions.get_many([tea.id, bicycle.id, other.id, "no-such-conclusion-at"])
    equal({one.id for one in many}, {tea.id, bicycle.id})
    equal(await ann.conclusions.get_many([]), [])


@scenario(
    "Honcho.conclusions",
    "WorkspaceConclusions.list",
    "WorkspaceConclusions.get",
    "WorkspaceConclusions.get_many",
    "WorkspaceConclusions.aio",
    since="2.7.0",
)
async def all_conclusions_of_a_workspace_can_be_read(world):
    ann, bob = await world.honcho.peer("ann"), await world.honcho.peer("bob")
    [tea] = await ann.conclusions.create([{"content": "Likes tea"}])
    [song] = await bob.conclusions_of(ann).create([{"content": "Sings"}])
    whole = world.honcho.conclusions
    equal(contents((await whole.list()).items), ["Sings", "Likes tea"])
    equal(contents((await whole.list(filters={"observer_id": "bob"}, reverse=True)).items), ["Sings"])
    equal(contents((await whole.list(filters={"observed_id": "ann"}, size=1)).items), ["Sings"])
    equal((await whole.get(song.id)).observer_id, "bob")
    equal({one.id for one in await whole.get_many([song.id, tea.id])}, {song.id, tea.id})
    await world.refused(whole.get("no-such-conclusion-at"), world.sdk.NotFoundError)
    same = world.face(world.honcho.thing.conclusions)
    equal((await same.list()).total, 2)


@scenario("ConclusionsView.derived", since="2.7.0")
async def a_conclusion_says_what_it_follows_from(world):
    ann, _, said = await known(world, INTRODUCTION, WORK)
    drawn = [one async for one in await ann.conclusions.list()]
    assert drawn, "nothing was concluded"
    for conclusion in drawn:
        assert conclusion.source_ids and conclusion.times_derived >= 1, vars(conclusion)
        equal((conclusion.observer_id, conclusion.observed_id, conclusion.session_id), ("ann", "ann", "talk"))
    equal({source for one in drawn for source in one.source_ids}, {message.id for message in said})
    of_work = await ann.conclusions.derived(said[1].id)
    assert "biologist" in of_work.items[0].content, contents(of_work.items)
    assert all(said[1].id in one.source_ids for one in of_work.items)
    equal((await ann.conclusions.derived("no-such-conclusion-at")).total, 0)


@scenario("ConclusionsView.list")
async def saying_the_same_again_makes_no_second_conclusion(world):
    ann, talk, _ = await known(world, INTRODUCTION)
    first = (await ann.conclusions.list()).total
    await talk.add_messages([ann.message("Good morning!"), ann.message(INTRODUCTION)])
    await world.settled()
    equal((await ann.conclusions.list()).total, first)
