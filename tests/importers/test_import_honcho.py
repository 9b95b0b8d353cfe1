"""A Honcho server as a source: one of our own for real, and one that is away, slow or not what it says."""

from datetime import UTC, datetime

import pytest

from importers.exports import memory
from importers.stand_in import Source, standing_in
from souvenance.agents.import_honcho import HonchoReader
from souvenance.commands import DataTransfers, honcho_at
from souvenance.domain.imports import ImportedMessage, ImportedStatement, ImportedWorkspace, Wanted
from souvenance.errors import ImportUnreadable, NotFound, ServerUnreachable, Unauthenticated
from souvenance.surfaces.http.client import RemoteGate
from surfaces.door import serving


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("source") / "home") as found:
        fill(found.owner)
        yield found


def fill(client):
    def told(method, path, body):
        answer = client.request(method, f"/v3/workspaces{path}", json=body)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    told(
        "POST",
        "",
        {"id": "bakery", "metadata": {"town": "Lisbon"}, "configuration": {"dream": {"enabled": False}}},
    )
    told("POST", "", {"id": "other"})
    told("POST", "/bakery/peers", {"id": "ann", "metadata": {"team": "blue"}})
    told("POST", "/bakery/peers", {"id": "bot", "configuration": {"observe_me": False}})
    told(
        "POST",
        "/bakery/sessions",
        {
            "id": "talk",
            "metadata": {"topic": "bread"},
            "configuration": {"summary": {"enabled": False}},
            "peers": {"ann": {"observe_me": True}, "bot": {"observe_others": True}},
        },
    )
    said = [
        {
            "peer_id": "ann",
            "content": f"message {n}",
            "created_at": f"2024-01-01T00:{n // 60:02}:{n % 60:02}Z",
        }
        for n in range(99)
    ]
    said.append({"peer_id": "bot", "content": "", "created_at": "2024-02-01T00:00:00Z"})
    told("POST", "/bakery/sessions/talk/messages", {"messages": said})
    more = [{"peer_id": "bot", "content": "a hundred and first", "metadata": {"role": "tool"}}]
    told("POST", "/bakery/sessions/talk/messages", {"messages": more})
    held = [
        {"content": "ann bakes bread", "observer_id": "bot", "observed_id": "ann", "session_id": "talk"},
        {"content": "ann likes rye", "observer_id": "ann", "observed_id": "ann", "quoted": True},
    ]
    told("POST", "/bakery/conclusions", {"conclusions": held})
    told("PUT", "/bakery/peers/ann/card", {"peer_card": ["Name: Ann"]})
    told("PUT", "/bakery/peers/bot/card?target=ann", {"peer_card": ["Baker"]})


def test_a_workspace_is_taken_over_as_it_is(server, mine):
    mine.workspace = "bakery"
    source = DataTransfers().open_source(
        f"{server.url}/v3/workspaces/bakery", None, Wanted(peer="me", key=server.owner_cap)
    )
    tally = mine.take(source, workspace=None, own_words=True)
    assert (tally.workspaces, tally.peers, tally.sessions, tally.messages, tally.cards) == (1, 2, 1, 100, 2)
    assert tally.skipped == {"empty messages": 1}
    first, last = mine.messages("talk")[0], mine.messages("talk")[-1]
    assert (first.content, first.created_at) == ("message 0", datetime(2024, 1, 1, tzinfo=UTC))
    assert (last.content, last.metadata["role"]) == ("a hundred and first", "tool")
    assert first.metadata["imported"]["from"] == "honcho" and len(first.metadata["imported"]["id"]) == 26
    assert mine.peers()["ann"].metadata["team"] == "blue"
    assert mine.peers()["bot"].configuration == {"observe_me": False}
    (session,) = mine.sessions()
    assert session.metadata["topic"] == "bread"
    assert session.configuration == {"summary": {"enabled": False}}
    assert mine.card("ann") == ["Name: Ann"] and mine.card("bot", "ann") == ["Baker"]
    told = {(one.observer_id, one.observed_id, one.session_id, one.content) for one in mine.conclusions()}
    assert ("bot", "ann", "talk", "ann bakes bread") in told
    assert ("ann", "ann", None, "ann likes rye") in told


def test_the_second_time_nothing_is_added_and_what_was_said_since_is(server, tmp_path):
    def source():
        return honcho_at(server.url, Wanted(peer="me", workspace="bakery", key=server.owner_cap))

    with memory(tmp_path / "home") as mine:
        mine.take(source(), workspace="copy")
        again = mine.take(source(), workspace="copy")
        assert (again.messages, again.conclusions, again.cards) == (0, 0, 0)
        answer = server.owner.post(
            "/v3/workspaces/bakery/sessions/talk/messages",
            json={"messages": [{"peer_id": "ann", "content": "news"}]},
        )
        assert answer.is_success
        mine.workspace = "copy"
        assert mine.take(source()).messages == 1


def test_a_key_of_one_workspace_is_enough_for_it(server):
    answer = server.owner.post("/v3/keys", params={"workspace_id": "bakery"})
    wanted = Wanted(peer="me", workspace="bakery", key=answer.json()["key"])
    found = list(honcho_at(server.url, wanted).records())
    assert found[0] == ImportedWorkspace("bakery")
    assert any(isinstance(one, ImportedStatement) for one in found)
    with pytest.raises(Unauthenticated):
        list(honcho_at(server.url, Wanted(peer="me", workspace="other", key=answer.json()["key"])).records())


def test_without_a_name_every_workspace_is_read(server):
    found = honcho_at(server.url, Wanted(peer="me", key=server.owner_cap)).records()
    assert {one.name for one in found if isinstance(one, ImportedWorkspace)} >= {"bakery", "other"}


def test_a_workspace_that_is_not_there_is_named_and_not_made(server, mine):
    source = honcho_at(server.url, Wanted(peer="me", workspace="gone", key=server.owner_cap))
    with pytest.raises(NotFound, match="no workspace 'gone'"):
        mine.take(source, workspace=None)


def test_a_wrong_key_is_said_to_be_one(server):
    with pytest.raises(Unauthenticated, match="does not let this key read"):
        list(honcho_at(server.url, Wanted(peer="me", key="nonsense")).records())


def said(number):
    return {
        "id": f"m{number}",
        "content": f"{number}",
        "peer_id": "ann",
        "created_at": "2024-01-01T00:00:00Z",
    }


@pytest.fixture
def source():
    lists = {
        "workspaces/list": [{"id": "w"}],
        "workspaces/w/sessions/list": [{"id": "s"}],
        "workspaces/w/sessions/s/messages/list": [said(number) for number in range(250)],
    }
    with standing_in(Source(**lists)) as found:
        yield found


def read(source, **more):
    waits = []
    server = HonchoReader(RemoteGate(source.url), Wanted(peer="me", **more), waits.append)
    return list(server.records()), waits


def test_every_page_is_read_once_and_nothing_is_sent_but_questions(source):
    found, _ = read(source, key="k")
    assert [one.id for one in found if isinstance(one, ImportedMessage)] == [
        f"m{number}" for number in range(250)
    ]
    assert {bearer for *_, bearer in source.asked} == {"Bearer k"}
    assert all(method == "GET" or path.endswith("/list") for method, path, *_ in source.asked)


def test_a_server_that_is_busy_is_asked_again_after_a_while(source):
    source.faults = [(503, {}, b""), (429, {"retry-after": "7"}, b""), (500, {}, b"oops")]
    found, waits = read(source)
    assert len([one for one in found if isinstance(one, ImportedMessage)]) == 250
    assert waits == [1.0, 7.0, 4.0]


def test_a_server_that_stays_away_is_given_up(source):
    source.faults = [(503, {}, b"")] * 5
    with pytest.raises(ServerUnreachable, match="answered 503"):
        read(source)
    assert len(source.asked) == 5


def test_nobody_there_is_said_so():
    with standing_in(Source()) as gone:
        pass
    with pytest.raises(ServerUnreachable, match="no answer from the source"):
        read(gone)


@pytest.mark.parametrize(
    ("status", "body", "complaint"),
    [
        (200, b"<html>", "not Souvenance"),
        (200, b'{"items": 7}', "not Souvenance"),
        (200, b'{"items": [{"name": "w"}]}', "not Souvenance"),
        (302, b"", "answered 302"),
    ],
)
def test_what_is_not_honcho_is_given_up(source, status, body, complaint):
    source.faults = [(status, {}, body)] * 5
    with pytest.raises(ServerUnreachable, match=complaint):
        read(source)


def test_what_is_refused_is_said_at_once(source):
    source.faults = [(422, {}, b'{"detail": "no"}')]
    with pytest.raises(ImportUnreadable, match=r"refuses workspaces\.list: no"):
        read(source)


def test_what_cannot_be_kept_here_is_left_out_and_does_not_stop_the_rest(source, mine):
    mine.workspace = "w"
    path = "/v3/workspaces/w/sessions/s/messages/list"
    source.lists[path] = [
        said(1),
        {**said(2), "created_at": "9000-01-01T00:00:00Z"},
        {**said(3), "metadata": {"a": [[[[[[1]]]]]]}},
        said(4),
    ]
    source.lists["/v3/workspaces/w/peers/list"] = [{"id": "ann"}, {"id": "scope.team"}]
    held = {"id": "c", "content": "x", "observed_id": "ann", "observer_id": "scope.team"}
    source.lists["/v3/workspaces/w/conclusions/list"] = [held]
    tally = mine.take(honcho_at(source.url, Wanted(peer="me")), workspace=None, lenient=True)
    assert [one.content for one in mine.messages("s")] == ["1", "4"]
    assert tally.skipped == {
        "peers that stand for scopes": 1,
        "messages and conclusions that can't be kept here": 2,
        "conclusions of peers that stand for scopes": 1,
    }


def test_conclusions_of_sessions_that_are_gone_are_kept_without_them(source):
    held = {
        "content": "x",
        "observer_id": "a",
        "observed_id": "b",
        "level": "deductive",
        "session_id": "gone",
    }
    source.lists["/v3/workspaces/w/conclusions/list"] = [
        {"id": "c1", **held},
        {"id": "c2", **held, "session_id": "s"},
    ]
    first, second = (one for one in read(source)[0] if isinstance(one, ImportedStatement))
    assert (first.session, second.session) == (None, "s")
    assert first.origin == {"level": "deductive"}
