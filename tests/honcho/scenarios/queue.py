"""The work behind the requests: what is waiting, what is done."""

from __future__ import annotations

from scenarios.claims import equal
from scenarios.conversations import INTRODUCTION, says
from scenarios.registry import scenario


def total(status):
    return status.completed_work_units + status.in_progress_work_units + status.pending_work_units


@scenario("Honcho.queue_status", "Session.queue_status")
async def the_queue_says_when_its_work_is_done(world):
    empty = await world.honcho.queue_status()
    equal((empty.total_work_units, empty.pending_work_units, empty.sessions), (0, 0, None))
    ann, talk, _ = await says(world, INTRODUCTION)
    await says(world, "I own a grey goat.", who="bob", where="other")
    whole = await world.honcho.queue_status()
    assert whole.total_work_units == total(whole) > 0, whole
    await world.settled(talk)
    assert "Lisbon" in await ann.representation(), "the queue said that the work was done"
    await world.settled()
    done = await world.honcho.queue_status()
    equal((done.pending_work_units, done.in_progress_work_units), (0, 0))
    equal(done.total_work_units, done.completed_work_units)
    equal({part.session_id for part in done.sessions.values()}, {"talk", "other"})
    equal((await talk.queue_status()).sessions, None)
    for part in (
        await talk.queue_status(),
        await world.honcho.queue_status(session=talk),
        await world.honcho.queue_status(sender=ann),
        await world.honcho.queue_status(observer="ann", session="talk"),
        await talk.queue_status(observer=ann, sender="ann"),
    ):
        assert 0 <= part.total_work_units <= done.total_work_units, part
        equal((part.pending_work_units, part.in_progress_work_units), (0, 0))
    equal((await world.honcho.queue_status(session="nowhere")).total_work_units, 0)


@scenario("Honcho.schedule_dream")
async def a_dream_can_be_asked_for(world):
    ann, talk, _ = await says(world, INTRODUCTION)
    await world.honcho.schedule_dream(ann)
    await world.honcho.schedule_dream("ann", session=talk, observed="ann")
    await world.settled()
    assert "Lisbon" in await ann.representation()
    equal(world.raw("POST", "/schedule_dream", {"observer": "ann", "dream_type": "omni"}).status_code, 204)
    equal(world.raw("POST", "/schedule_dream", {"observer": "ann", "dream_type": "night"}).status_code, 422)
    await world.honcho.set_configuration(world.types.WorkspaceConfiguration(dream={"enabled": False}))
    await world.refused(world.honcho.schedule_dream(ann), world.sdk.BadRequestError)
