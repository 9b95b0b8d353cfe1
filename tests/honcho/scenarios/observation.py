"""Who observes whom, and how to say no to being observed."""

from __future__ import annotations

from scenarios.claims import equal
from scenarios.conversations import INTRODUCTION, known
from scenarios.registry import scenario


@scenario("Peer.representation")
async def members_who_observe_others_know_what_they_heard(world):
    config = world.types.SessionPeerConfig
    ann, bob, cleo = [await world.honcho.peer(name) for name in ("ann", "bob", "cleo")]
    talk = await world.honcho.session("talk", peers=[ann, cleo, (bob, config(observe_others=True))])
    await talk.add_messages(ann.message("I live in Lisbon."))
    await world.settled()
    assert "Lisbon" in await ann.representation()
    assert "Lisbon" in await bob.representation(target=ann)
    equal((await cleo.conclusions_of(ann).list()).items, [])
    equal(await bob.representation(), "")
    equal(await ann.representation(target="bob"), "")


@scenario("Peer.representation")
async def a_peer_that_must_not_be_observed_is_not(world):
    config = world.types.SessionPeerConfig
    shy = await world.honcho.peer("shy", configuration=world.types.PeerConfig(observe_me=False))
    bob = await world.honcho.peer("bob")
    quiet = await world.honcho.session("quiet", peers=[shy, (bob, config(observe_others=True))])
    open_ = await world.honcho.session("open", peers=[(shy, config(observe_me=True))])
    await quiet.add_messages(shy.message("I live in Lisbon."))
    await open_.add_messages(shy.message("I play the cello."))
    await world.settled()
    text = await shy.representation()
    assert "cello" in text and "Lisbon" not in text, text
    equal(await bob.representation(target=shy), "")


@scenario("ConclusionsView.list")
async def reasoning_is_switched_off_message_by_message_and_session_by_session(world):
    off, on = {"reasoning": {"enabled": False}}, {"reasoning": {"enabled": True}}
    configuration = world.types.SessionConfiguration
    ann = await world.honcho.peer("ann")
    talk = await world.honcho.session("talk")
    mute = await world.honcho.session("mute", configuration=configuration(**off))
    await talk.add_messages(
        [ann.message("I live in Lisbon."), ann.message("I own a goat.", configuration=off)]
    )
    await mute.add_messages([ann.message("I play the cello."), ann.message("I love figs.", configuration=on)])
    await world.settled()
    text = str([one.content for one in (await ann.conclusions.list()).items])
    assert "Lisbon" in text and "goat" not in text, text
    assert "cello" not in text and "figs" in text, text


@scenario("ConclusionsView.list")
async def reasoning_is_switched_off_for_a_workspace_and_on_again_for_a_session(world):
    await world.honcho.get_metadata()
    await world.honcho.set_configuration(world.types.WorkspaceConfiguration(reasoning={"enabled": False}))
    on = world.types.SessionConfiguration(reasoning={"enabled": True})
    ann = await world.honcho.peer("ann")
    mute = await world.honcho.session("mute")
    talk = await world.honcho.session("talk", configuration=on)
    await mute.add_messages(ann.message("I play the cello."))
    await talk.add_messages(ann.message("I live in Lisbon."))
    await world.settled()
    text = str([one.content for one in (await ann.conclusions.list()).items])
    assert "Lisbon" in text and "cello" not in text, text


@scenario("Peer.representation")
async def workspaces_know_nothing_of_each_other(world):
    await known(world, INTRODUCTION)
    elsewhere = world.client(f"{world.workspace}-elsewhere")
    stranger = await elsewhere.peer("ann")
    equal(await stranger.representation(), "")
    equal(await stranger.get_card(), None)
    equal(await elsewhere.search("Lisbon"), [])
    assert "Lisbon" not in (await stranger.chat("Where do I live?") or "")


@scenario("Honcho.session", "Session.add_peers")
async def only_so_many_members_may_observe_the_others(world):
    observes = world.types.SessionPeerConfig(observe_others=True)
    many = [(f"peer-{number}", observes) for number in range(11)]
    await world.refused(world.honcho.session("talk", peers=many), world.sdk.UnprocessableEntityError)
    talk = await world.honcho.session("talk", peers=many[:10])
    await world.refused(talk.add_peers(many[10]), world.sdk.UnprocessableEntityError)
    await talk.add_peers("a-listener")
    equal(len(await talk.peers()), 11)
