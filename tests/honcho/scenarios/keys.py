"""Keys: the SDK has no call for them, so they are made over the plain wire and then used by it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from scenarios.claims import equal
from scenarios.conversations import says
from scenarios.registry import scenario


def key(world, **scope):
    answer = world.raw("POST", "/v3/keys", params=scope)
    equal(answer.status_code, 200)
    return answer.json()["key"]


@scenario("Honcho.peers")
async def a_workspace_key_opens_its_workspace_and_no_other(world):
    await says(world, "Hello")
    narrow = world.client(api_key=key(world, workspace_id=world.workspace))
    equal([one.id for one in (await narrow.peers()).items], ["ann"])
    wrong = world.sdk.AuthenticationError
    elsewhere = world.client(f"{world.workspace}-elsewhere", api_key=narrow.thing._http.api_key)
    await world.refused(elsewhere.peers(), wrong)
    await world.refused(narrow.workspaces(), wrong)
    again = world.raw(
        "POST", "/v3/keys", key=narrow.thing._http.api_key, params={"workspace_id": world.workspace}
    )
    equal(again.status_code, 401)


@scenario()
async def a_peer_key_opens_that_peer_only(world):
    ann, _, _ = await says(world, "Hello")
    await says(world, "Hello", who="bob", where="other")
    await ann.set_card(["Name: Ann"])
    narrow = key(world, workspace_id=world.workspace, peer_id="ann")
    base = f"/v3/workspaces/{world.workspace}"
    equal(world.raw("GET", f"{base}/peers/ann/card", key=narrow).json(), {"peer_card": ["Name: Ann"]})
    equal(world.raw("GET", f"{base}/peers/bob/card", key=narrow).status_code, 401)
    equal(world.raw("POST", f"{base}/sessions/talk/messages/list", key=narrow).json()["total"], 1)
    equal(world.raw("POST", f"{base}/sessions/other/messages/list", key=narrow).status_code, 401)
    shown = world.raw("POST", f"{base}/conclusions/list", key=narrow)
    assert shown.status_code == 401 or {one["observer_id"] for one in shown.json()["items"]} <= {"ann"}
    equal(world.raw("POST", f"{base}/search", {"query": "Hello"}, key=narrow).status_code, 401)
    equal(world.raw("DELETE", f"{base}/sessions/talk", key=narrow).status_code, 401)


@scenario()
async def a_session_key_opens_that_session_only(world):
    await says(world, "Hello")
    await says(world, "Hello", where="other")
    narrow = key(world, workspace_id=world.workspace, session_id="talk")
    base = f"/v3/workspaces/{world.workspace}"
    equal(world.raw("POST", f"{base}/sessions/talk/messages/list", key=narrow).json()["total"], 1)
    equal(world.raw("POST", f"{base}/sessions/other/messages/list", key=narrow).status_code, 401)
    equal(world.raw("GET", f"{base}/peers/ann/card", key=narrow).status_code, 401)


@scenario("Honcho.peers")
async def a_key_that_has_expired_opens_nothing(world):
    await world.honcho.get_metadata()
    past = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    fresh = key(world, workspace_id=world.workspace, expires_at=later)
    equal((await world.client(api_key=fresh).peers()).total, 0)
    answer = world.raw("POST", "/v3/keys", params={"workspace_id": world.workspace, "expires_at": past})
    if answer.status_code == 200:
        stale = world.client(api_key=answer.json()["key"])
        await world.refused(stale.peers(), world.sdk.AuthenticationError)
    else:
        equal(answer.status_code, 422)
