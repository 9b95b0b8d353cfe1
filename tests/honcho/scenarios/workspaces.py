"""Workspaces: made on first use, updated by PUT only, listed to those who may see all, deleted for good."""

from __future__ import annotations

from uuid import uuid4

from scenarios.claims import equal
from scenarios.registry import scenario


@scenario("Honcho.get_metadata", "Honcho.metadata", "Honcho.base_url")
async def a_workspace_is_made_once_and_found_again(world):
    first = world.raw("POST", "/v3/workspaces", {"id": world.workspace, "metadata": {"team": "sea"}})
    again = world.raw("POST", "/v3/workspaces", {"id": world.workspace, "metadata": {"team": "land"}})
    equal((first.status_code, again.status_code), (201, 200))
    equal(again.json(), first.json())
    equal(await world.honcho.get_metadata(), {"team": "sea"})
    equal(world.honcho.metadata, {"team": "sea"})
    equal(world.honcho.base_url, world.url)


@scenario("Honcho.set_metadata", "Honcho.refresh")
async def new_metadata_of_a_workspace_replaces_the_old(world):
    await world.honcho.set_metadata({"a": 1, "deep": {"b": [True, None, 2.5]}})
    await world.honcho.set_metadata({"c": "ü"})
    other = world.client()
    equal(await other.get_metadata(), {"c": "ü"})
    await other.set_metadata({"d": 4})
    equal(world.honcho.metadata, {"c": "ü"})
    await world.honcho.refresh()
    equal(world.honcho.metadata, {"d": 4})


@scenario("Honcho.set_configuration", "Honcho.get_configuration", "Honcho.configuration")
async def configuration_of_a_workspace_is_merged_key_by_key(world):
    configuration = world.types.WorkspaceConfiguration
    await world.honcho.get_metadata()
    await world.honcho.set_configuration(configuration(reasoning={"enabled": False}))
    await world.honcho.set_configuration(configuration(summary={"messages_per_short_summary": 12}))
    got = await world.client().get_configuration()
    equal(got.reasoning.enabled, False)
    equal(got.summary.messages_per_short_summary, 12)
    equal(got.dream, None)
    equal(world.honcho.configuration.summary.messages_per_short_summary, 12)


@scenario("Honcho.set_configuration", since="2.7.0")
async def instructions_of_the_newest_sdk_are_kept(world):
    wanted = world.types.WorkspaceConfiguration(
        custom_instructions="Answer in English.",
        dialectic={"custom_instructions": "Be brief."},
        summary={"custom_instructions": "Keep names."},
        peer_card={"use": True, "custom_instructions": "Names first."},
        dream={"custom_instructions": "Sleep well."},
    )
    await world.honcho.get_metadata()
    await world.honcho.set_configuration(wanted)
    equal((await world.client().get_configuration()).model_dump(), wanted.model_dump())


@scenario("Honcho.uid", "Peer.uid", "Session.uid", since="2.7.0")
async def names_may_be_reused_but_uids_are_not(world):
    ann, talk = await world.honcho.peer("ann"), await world.honcho.session("talk")
    uids = [world.honcho.uid, ann.uid, talk.uid]
    assert all(uids) and len(set(uids)) == 3, uids
    other = world.client()
    again = [await other.peer("ann"), await other.session("talk")]
    equal([other.uid, *(one.uid for one in again)], uids)
    await talk.delete()
    assert (await other.session("talk")).uid != talk.uid


@scenario("Honcho.workspaces")
async def all_workspaces_are_listed_page_by_page(world):
    mark = uuid4().hex
    names = [f"{world.workspace}-{number}" for number in range(3)]
    for name in names:
        await world.client(name).set_metadata({"mark": mark})
    page = await world.honcho.workspaces({"metadata": {"mark": mark}}, size=2)
    equal((list(page.items), page.total, page.pages), (names[:2], 3, 2))
    equal([one async for one in page], names)
    backwards = await world.honcho.workspaces({"metadata": {"mark": mark}}, reverse=True)
    equal(list(backwards.items), names[::-1])
    equal(list((await world.honcho.workspaces({"id": names[1]})).items), [names[1]])


@scenario("Honcho.delete_workspace")
async def a_deleted_workspace_is_gone_and_its_name_is_free(world):
    ann = await world.honcho.peer("ann")
    talk = await world.honcho.session("talk")
    await talk.add_messages(ann.message("The lighthouse key is under the mat."))
    refused = world.honcho.delete_workspace(world.workspace)
    await world.refused(refused, world.sdk.ConflictError)
    await talk.delete()
    await world.honcho.delete_workspace(world.workspace)
    equal(list((await world.honcho.workspaces({"id": world.workspace})).items), [])
    await world.refused(world.honcho.delete_workspace(world.workspace), world.sdk.NotFoundError)
    again = world.client()
    equal(await again.get_metadata(), {})
    equal(list((await again.peers()).items), [])
    equal(await again.search("lighthouse"), [])


@scenario("Honcho.get_configuration", "Honcho.session")
async def what_a_newer_client_configured_does_not_break_an_older_one(world):
    await world.honcho.get_metadata()
    configuration = {"summary": {"enabled": True, "custom_instructions": "Keep names."}, "dialectic": {}}
    newer = {"x-honcho-host": "honcho-python/2.7.0 (linux)"}
    for path in ("", "/sessions/talk"):
        equal(world.raw("PUT", path, {"configuration": configuration}, **newer).status_code, 200)
    got = await world.honcho.get_configuration()
    talk = await world.honcho.session("talk")
    equal((got.summary.enabled, talk.configuration.summary.enabled), (True, True))
