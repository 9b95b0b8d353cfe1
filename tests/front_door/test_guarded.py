"""The gate stands behind a memory in Python: a narrower token opens no more than it says."""

import pytest

import souvenance
from front_door.memories import in_folder
from souvenance import errors
from surfaces.door import souvenance as command_line


@pytest.fixture
def lend(opens, place, memory, name):
    """A memory that is opened with a token of the given rights, beside one that opens everything."""
    entered = []

    def lend(subject="owner", **rights):
        token = memory.mint(subject, **rights)
        opened = opens(**{**place, "token": token})
        entered.append(opened)
        return opened.__enter__()

    yield lend
    for opened in entered:
        opened.__exit__(None, None, None)


def texts(lines):
    return [line.text for line in lines]


def test_a_namespace_that_a_token_does_not_name_is_neither_read_nor_written(memory, lend):
    memory.put("trip to Chengdu", namespace="travel")
    secret = memory.put("allergic to penicillin", namespace="health")
    guest = lend(ops=["get", "list", "put", "invalidate", "forget", "snapshot"], namespaces="travel")
    assert texts(guest.get()) == texts(guest.list()) == ["trip to Chengdu"]
    assert "penicillin" not in guest.snapshot()
    for asks in (
        lambda: guest.get(namespaces="health"),
        lambda: list(guest.list(namespaces="health")),
        lambda: guest.put("x", namespace="health"),
        lambda: guest.forget(namespace="health"),
    ):
        with pytest.raises(errors.NamespaceDenied):
            asks()
    for asks in (guest.line, guest.correct, guest.forget):
        with pytest.raises(errors.NotFound):
            asks(secret)
    assert memory.line(secret).text == "allergic to penicillin"


def test_another_owner_s_lines_are_not_reached(memory, lend):
    of_ann = memory.peer("ann").put("I live in Porto")
    memory.peer("ann").session("s1").add("I live in Porto")
    bob = lend("bob", ops=["get", "list", "put", "forget"], namespaces="*")
    assert list(bob.get("Porto")) == list(bob.list()) == []
    with pytest.raises(errors.NotFound):
        bob.line(of_ann)
    for asks in (
        lambda: bob.peer("ann").get("Porto"),
        lambda: bob.peer("ann").put("x"),
        lambda: bob.peer("ann").card(),
        lambda: bob.peer("ann").context(),
        lambda: bob.peer("ann").chat("Where does Ann live?"),
        lambda: bob.peer("ann").session("s2").add("x"),
        lambda: bob.forget(owner="ann"),
        lambda: list(bob.session("s1").messages()),
        lambda: bob.session("s1").context(),
        lambda: list(bob.peers()),
    ):
        with pytest.raises(errors.CapScopeMismatch):
            asks()
    assert list(bob.peer("bob").conclusions(about="ann")) == []


def test_another_workspace_is_not_reached(opens, place, memory, lend):
    memory.put("trip to Chengdu")
    with opens(**place, workspace="elsewhere") as other:
        assert "trip to Chengdu" not in texts(other.list())
    token = memory.mint("owner", ops=["get"], namespaces="*")
    with (
        opens(**{**place, "token": token}, workspace="elsewhere") as other,
        pytest.raises(errors.CapScopeMismatch),
    ):
        other.get()


def test_a_token_that_lists_and_does_not_read_shows_no_text(memory, lend):
    memory.put("trip to Chengdu", namespace="travel")
    clerk = lend(ops="list", namespaces="travel")
    assert [(line.namespace, line.text) for line in clerk.list()] == [("travel", "")]
    with pytest.raises(errors.CapOpMismatch):
        clerk.get()


def test_a_token_can_not_mint_one_that_opens_more(memory, lend):
    guest = lend(ops=["get", "grant"], namespaces="travel")
    assert guest.mint("owner", ops="get", namespaces="travel")
    with pytest.raises(errors.CapScopeMismatch):
        guest.mint("owner", ops="get", namespaces="*")


@pytest.mark.parametrize("token", ["nonsense", "eyJ.eyJ.x"])
def test_a_token_that_is_none_is_refused(opens, place, token):
    with opens(**{**place, "token": token}) as memory:
        for asks in (memory.get, memory.peer("ann").get):
            with pytest.raises(errors.CapMalformed):
                asks()


def test_every_call_has_its_row_in_the_audit_log(home):
    with souvenance.open(**in_folder(home)) as memory:
        memory.put("hello", namespace="travel")
        guest = memory.mint("owner", ops="get", namespaces="personal")
        narrow = souvenance.open(**in_folder(home), token=guest)
        with narrow, pytest.raises(errors.NamespaceDenied):
            narrow.get("hello", namespaces="travel")
    rows = command_line("--json", "audit", "list", home=home).rows()
    told = [(row["operation"], row["outcome"]) for row in rows]
    assert told[:3] == [("memory.put", "ok"), ("caps.mint", "ok"), ("memory.get", "namespace_denied")]
