"""Nobody reads across a person, a workspace or a namespace, whatever a model asks for."""

import anyio

from mcp_door.served import run
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.conclusions import ADD_CONCLUSIONS, AddConclusions, NewConclusion
from souvenance.gate.conversation.peers import OPEN_PEER, OpenPeer

READING = (
    ("recall", {"question": "secret bassoon", "limit": 20}),
    ("profile", {}),
    ("reason", {"question": "What is the secret about the bassoon?"}),
    ("list", {"what": "lines", "limit": 20}),
    ("list", {"what": "facts", "limit": 20}),
    ("list", {"what": "sessions", "limit": 20}),
)


def everything_told(server, cap):
    """All that every reading tool and resource gives."""

    async def work():
        async with server.client(cap) as client:
            told = [str(await client.call_tool(name, arguments)) for name, arguments in READING]
            told += [
                str(await client.read_resource(uri))
                for uri in ("souvenance://profile", "souvenance://sessions")
            ]
            return "\n".join(told)

    return run(work)


def test_two_people_of_one_workspace_see_nothing_of_each_other(server, name, other):
    alice, bob = server.wide(name), server.wide(other)
    kept = server.tool(alice, "remember", statements=["The secret bassoon is under the bed."])
    fact = server.tool(alice, "conclude", fact="Keeps a secret bassoon.")
    server.installation.settle(20)
    told = everything_told(server, bob)
    assert "bassoon is under" not in told and name not in told
    for line in (*kept["ids"], fact["id"]):
        for session in ({}, {"session": f"mcp-{name}"}):
            assert server.refusal(bob, "read", id=line, **session)["error"] == "not_found"
            assert server.refusal(bob, "forget", id=line, **session)["error"] == "not_found"
    assert server.tool(alice, "recall", question="bassoon")["lines"]


def test_a_session_of_others_is_no_resource(server, name, other):
    server.tool(server.wide(name), "remember", statements=["The secret bassoon is under the bed."])

    error = server.protocol_error(
        server.mint(other), lambda client: client.read_resource(f"souvenance://sessions/mcp-{name}")
    )
    assert error.data["error"] == "not_found"


def test_the_same_name_in_another_workspace_is_somebody_else(server, name):
    here, there = server.wide(name, wid="here"), server.wide(name, wid="there")
    server.tool(here, "remember", statements=["The secret bassoon is under the bed."])
    assert "under the bed" not in everything_told(server, there)
    assert "under the bed" in everything_told(server, here)


def test_a_narrow_cap_sees_its_namespaces_alone(server, name):
    wide = server.mint(name)
    server.call(o.PUT, m.Put("The secret bassoon is under the bed.", "personal"), wide)
    server.call(o.PUT, m.Put("The bassoon goes to Chengdu.", "travel"), wide)
    told = everything_told(server, server.mint(name, namespaces=("travel",)))
    assert "under the bed" not in told and "Chengdu" in told


def test_what_a_narrow_cap_remembers_lies_in_its_namespace(server, name):
    cap = server.mint(name, namespaces=("travel", "work"))
    server.tool(cap, "remember", statements=["The bassoon goes to Chengdu."])
    listed = server.call(o.LIST, m.List(), cap)
    assert {line.namespace for line in listed.lines} == {"travel"}


def test_a_cap_that_opens_no_namespace_gets_nothing(server, name):
    cap = server.mint(name, namespaces=())
    assert server.tool(cap, "recall", question="bassoon")["lines"] == []
    assert server.refusal(cap, "remember", statements=["x y z"])["error"] == "namespace_denied"


def test_a_reading_cap_is_offered_no_tool_that_writes_and_can_use_none(server, name):
    cap = server.wide(name, ops=("get", "list", "snapshot"))

    async def work():
        async with server.client(cap) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    assert run(work) == ["recall", "profile", "reason", "read", "list"]
    assert server.refusal(cap, "remember", statements=["x"])["error"] == "cap_op_mismatch"
    assert server.refusal(cap, "conclude", fact="x")["error"] == "cap_op_mismatch"


def test_eyes_show_what_an_agent_knows_of_the_person_and_of_nobody_else(server, name, other):
    agent = f"agent-{name}"
    for peer in (agent, name, other):
        server.call(OPEN_PEER, OpenPeer(workspace_id="default", id=peer))
    stated = NewConclusion(content="Has a secret bassoon.", observer_id=agent, observed_id=other)
    server.call(ADD_CONCLUSIONS, AddConclusions(workspace_id="default", conclusions=[stated]))
    assert "Has a secret" not in everything_told(server, server.mint(name, via=(agent,)))
    assert "Has a secret" in everything_told(server, server.mint(other, via=(agent,)))


def test_many_people_at_once_each_get_their_own(server, name):
    people = [f"{name}-{number}" for number in range(12)]
    caps = {person: server.wide(person) for person in people}

    async def one(person, told):
        async with server.client(caps[person]) as client:
            await client.call_tool("remember", {"statements": [f"The bassoon of {person} is blue."]})
            told[person] = str(
                await client.call_tool("recall", {"question": "whose bassoon is blue?", "limit": 20})
            )

    async def work():
        told = {}
        async with anyio.create_task_group() as group:
            for person in people:
                group.start_soon(one, person, told)
        return told

    for person, told in run(work).items():
        assert {other for other in people if f"bassoon of {other} is" in told} == {person}
