"""What a session is called."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pace import examples
from souvenance.agents.conversation_scope import Namespaces
from souvenance.hermes.configuration import Configuration
from souvenance.hermes.host import HostConversation
from souvenance.hermes.identity import Person, identify, session_name

PROPERTY = settings(max_examples=examples(250), deadline=None, derandomize=True, database=None)
NAME = re.compile(r"[a-zA-Z0-9_-]{1,100}\Z")
OWNER = Person("alice", "name")
SOURCE = Path("/code/my-app/src")


def configured(**settings) -> Configuration:
    required = {
        "home": Path("home"),
        "store": Path("store"),
        "host": "hermes",
        "workspace": "hermes",
        "ai_peer": "hermes",
    }
    return Configuration(**{**required, **settings})


def talk(platform="cli", directory=SOURCE, **said) -> HostConversation:
    return HostConversation(
        session_id="s1", platform=platform, home=Path("home"), directory=directory, **said
    )


def gateway(key, platform="telegram", **said) -> HostConversation:
    return talk(platform, gateway_session_key=key, **said)


def name(conversation, person=OWNER, session_id="20260415_a3f2b1", **settings) -> str:
    return session_name(configured(**settings), replace(conversation, session_id=session_id), person)


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "my-repo"
    (root / ".git").mkdir(parents=True)
    (root / "src" / "deep").mkdir(parents=True)
    return root


EVERYTHING = {"gateway_session_key": "agent:main:telegram:dm:123", "session_title": "refactor-auth"}


@pytest.mark.parametrize(
    ("strategy", "said", "mapped", "session_id", "expected"),
    [
        ("per-session", EVERYTHING, True, "s1", "agent-main-telegram-dm-123"),
        ("per-session", {"session_title": "refactor-auth"}, True, "s1", "s1"),
        ("per-session", {"session_title": "refactor-auth"}, True, " ", "mapped"),
        ("per-session", {}, False, "", "deep"),
        ("per-repo", {"session_title": "refactor-auth"}, True, "s1", "mapped"),
        ("per-repo", {"session_title": "refactor-auth"}, False, "s1", "refactor-auth"),
        ("per-repo", {"session_title": "  "}, False, "s1", "my-repo"),
        ("per-directory", {}, True, "s1", "mapped"),
        ("per-directory", {}, False, "s1", "deep"),
        ("global", {}, True, "s1", "mapped"),
        ("global", {"session_title": "refactor-auth"}, False, "s1", "refactor-auth"),
        ("global", {}, False, "s1", "hermes"),
    ],
)
def test_the_stablest_that_there_is_names_the_session(
    repository, strategy, said, mapped, session_id, expected
):
    directory = repository / "src" / "deep"
    sessions = {str(directory): "mapped"} if mapped else {}
    conversation = talk(directory=directory, **said)
    assert name(conversation, session_id=session_id, session_strategy=strategy, sessions=sessions) == expected


@pytest.mark.parametrize("strategy", ["per-session", "per-directory", "per-repo", "global"])
def test_a_title_never_moves_a_conversation_that_has_a_stable_identifier(strategy):
    key = "agent:main:telegram:dm:123"
    titled = gateway(key, session_title="Trip to Rome")
    assert name(gateway(key), session_strategy=strategy) == name(titled, session_strategy=strategy)
    assert name(talk(), session_strategy="per-session") == name(
        talk(session_title="Trip to Rome"), session_strategy="per-session"
    )


def test_a_work_tree_and_a_submodule_are_repositories_of_their_own(repository):
    tree = repository / "tree"
    tree.mkdir()
    (tree / ".git").write_text("gitdir: ../.git/worktrees/tree\n")
    assert name(talk(directory=tree), session_strategy="per-repo") == "tree"


def test_outside_a_repository_the_directory_names_the_session(tmp_path):
    loose = tmp_path / "loose"
    loose.mkdir()
    assert name(talk(directory=loose), session_strategy="per-repo") == "loose"


def test_the_root_of_all_directories_has_a_name_too():
    assert NAME.match(name(talk(directory=Path("/"))))


def test_a_directory_that_is_gone_still_has_its_name(tmp_path):
    assert name(talk(directory=tmp_path / "gone"), session_strategy="per-repo") == "gone"


@pytest.mark.parametrize(
    "spelled", ["{home}/app", "{home}/app/", "{home}/./app", "~/app", "~/app//", "{home}/link"]
)
def test_the_map_may_spell_a_directory_in_any_way(tmp_path, monkeypatch, spelled):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "app").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "app")
    sessions = {"/elsewhere": "other", spelled.format(home=tmp_path): " main "}
    assert name(talk(directory=tmp_path / "app"), sessions=sessions) == "main"
    assert name(talk(directory=tmp_path / "link"), sessions=sessions) == "main"


@pytest.mark.parametrize(
    "path", ["{home}", "app", ".", "", "{home}/app/deep", "/a\0b", "/\ud800", "~\0", "~nobody/app"]
)
def test_the_map_holds_for_that_directory_only(tmp_path, monkeypatch, path):
    (tmp_path / "app").mkdir()
    monkeypatch.chdir(tmp_path / "app")
    assert name(talk(directory=tmp_path / "app"), sessions={path.format(home=tmp_path): "main"}) == "app"


def test_the_map_without_a_name_is_no_map():
    assert name(talk(), sessions={str(SOURCE): " "}) == "src"


@pytest.mark.parametrize("chosen", ["agent-main-telegram-dm-123", "src--0123456789abcdef"])
def test_a_name_that_the_operator_chose_is_the_name(chosen):
    assert name(talk(), sessions={str(SOURCE): chosen}) == chosen


def test_a_chosen_name_that_is_none_is_made_one():
    assert re.fullmatch(r"my-project--[0-9a-f]{16}", name(talk(), sessions={str(SOURCE): "my project!"}))


@pytest.mark.parametrize(
    "key",
    [
        "agent:main:telegram:dm:8439114563",
        "agent:main:telegram:dm:12345678",
        "agent:main:telegram:group:-1001234567890:555",
        "agent:coder:slack:channel:C04ABC:U04DEF",
        "agent:main:discord:thread:1234567890123456789",
        "agent:main:telegram:dm",
    ],
)
def test_a_gateways_key_is_named_as_it_is_with_honcho(key):
    assert name(gateway(key)) == key.replace(":", "-")


@pytest.mark.parametrize(
    "key",
    [
        "agent:main:slack:dm:D123:1699999999.123456",
        "agent:main:matrix:dm:!room:server",
        "agent:main:signal:dm:123e4567-e89b-12d3-a456-426614174000",
        "agent:main:telegram:dm:",
        "agent:main:telegram:group:-0123456789abcdef",
        "agent-main-telegram-dm-123",
        "agent:main-telegram:dm:123",
        "agent:main",
        "myrepo",
    ],
)
def test_any_other_key_of_a_gateway_carries_a_digest(key):
    assert re.search(r"[^-]--[0-9a-f]{16}\Z", name(gateway(key)))


ALIKE = [
    "a:b",
    "a-b",
    "a.b",
    "a b",
    "a--b",
    "A:b",
    "a:b:",
    "à",
    "a\u0300",
    "山田",
    "田中",
    "a-b--0123456789abcdef",
]


@pytest.mark.parametrize("prefixed", [False, True])
def test_what_looks_alike_is_not_one_chat(prefixed):
    conversations = [
        *(gateway(f"{lead}{one}") for one in ALIKE for lead in ("", "agent:main:telegram:dm:")),
        *(gateway(one, "api_server") for one in ALIKE),
        *(talk(session_title=one) for one in ALIKE),
    ]
    names = {name(one, session_peer_prefix=prefixed) for one in conversations}
    assert len(names) == len(conversations)
    assert all(map(NAME.match, names))


def test_a_long_key_is_cut_and_told_apart():
    one, other = (name(gateway(f"agent:main:telegram:dm:{'x' * 200}{end}")) for end in "12")
    assert one != other
    assert len(one) == len(other) == 100
    assert name(talk(session_title="x" * 100)) == "x" * 100


def test_the_peer_prefix_is_put_before_every_source():
    key = "agent:main:telegram:dm:123"
    prefixed = {"session_peer_prefix": True}
    assert name(gateway(key), **prefixed) == "alice-agent-main-telegram-dm-123"
    assert name(talk(), session_strategy="per-session", **prefixed) == "alice-20260415_a3f2b1"
    assert name(talk(), sessions={str(SOURCE): "main"}, **prefixed) == "alice-main"
    assert name(talk(session_title="refactor-auth"), **prefixed) == "alice-refactor-auth"
    assert name(talk(), **prefixed) == "alice-src"
    assert name(talk(), session_strategy="global", **prefixed) == "alice-hermes"
    assert name(gateway("user:42", "api_server"), **prefixed).startswith("alice-api-user-42--")


def test_a_prefix_and_a_name_are_not_another_prefix_and_name():
    one = name(talk(session_title="b-c"), Person("a", "name"), session_peer_prefix=True)
    other = name(talk(session_title="c"), Person("a-b", "name"), session_peer_prefix=True)
    assert one == "a-b-c"
    assert other.startswith("a-b-c--")


def test_people_whose_names_look_alike_before_a_prefixed_name_are_told_apart():
    peers = ("a", "a-", "a--", f"{'x' * 90}1", f"{'x' * 90}2")
    names = {name(talk(session_title="b.c"), Person(one, "name"), session_peer_prefix=True) for one in peers}
    assert len(names) == len(peers)


def test_what_is_named_like_a_gateways_chat_is_not_it():
    for title in ("agent-main-telegram-dm-123", "agent-main-telegram-group--100"):
        assert name(talk(session_title=title)).startswith(re.sub("-+", "-", title) + "--")
    assert name(talk(session_title="agent-zero-main")) == "agent-zero-main"


def test_two_people_in_one_group_share_its_session():
    key = "agent:main:telegram:group:-100123"
    assert name(gateway(key, user_id="1"), Person("1", "id", "1")) == name(
        gateway(key, user_id="2"), Person("2", "id", "2")
    )


def in_person(configuration, conversation, session_id="api-0123456789abcdef"):
    conversation = replace(conversation, session_id=session_id)
    return session_name(configuration, conversation, identify(configuration, conversation))


@pytest.mark.parametrize("strategy", ["per-session", "per-directory", "per-repo", "global"])
@pytest.mark.parametrize("key", [None, "room"])
def test_callers_of_the_http_api_whom_the_host_names_never_share_a_session(strategy, key):
    configuration = configured(session_strategy=strategy, sessions={str(SOURCE): "main"})
    one, other = (
        in_person(configuration, gateway(key, "api_server", user_id=user, user_id_alt=alt))
        for user, alt in (("1", None), (" ", "2"))
    )
    assert one != other


@pytest.mark.parametrize("strategy", ["per-session", "per-directory", "per-repo", "global"])
@pytest.mark.parametrize(
    "key", [None, "src", "hermes", "main", "s1", "agent:main:telegram:dm:123", "agent-main-telegram-dm-123"]
)
@pytest.mark.parametrize("user_id", [None, "alice"])
@pytest.mark.parametrize("pinned", [False, True])
def test_no_caller_of_the_http_api_reaches_a_session_of_another_platform(strategy, key, user_id, pinned):
    own = {"peer_name": "alice", "workspace": "hermes", "pin_user_peer": pinned}
    configuration = configured(session_strategy=strategy, sessions={"/code/main": "main"}, **own)
    stranger = in_person(configuration, gateway(key, "api_server", user_id=user_id))
    locals_ = product((SOURCE, Path("/code/main")), (None, "api-src"), ("s1", "", "api-0123456789abcdef"))
    others = {
        *(
            in_person(configuration, talk(directory=one, session_title=title), given)
            for one, title, given in locals_
        ),
        in_person(configuration, gateway("agent:main:telegram:dm:123", user_id="alice")),
        in_person(configuration, gateway(key, user_id="alice")),
    }
    assert stranger not in others


def test_another_chat_of_the_same_caller_is_another_session():
    assert name(gateway("user:42:chat-7", "api_server")) != name(gateway("user:42:chat-8", "api_server"))
    assert re.fullmatch(r"api-user-42-chat-7--[0-9a-f]{16}", name(gateway("user:42:chat-7", "api_server")))


def test_a_namespace_has_its_own_sessions():
    namespaces = [None, "default", "travel", "default-2", "work"]
    names = [name(talk(), namespaces=Namespaces(write=one)) for one in namespaces]
    assert names[:2] == ["src", "src"]
    assert re.fullmatch(r"src-travel--[0-9a-f]{16}", names[2])
    assert len(set(names[1:])) == 4


def test_a_directory_named_after_a_namespaces_session_is_not_it():
    marked = name(talk(), namespaces=Namespaces(write="travel"))
    assert name(talk(directory=Path(f"/code/{marked}"))) != marked
    assert name(talk(session_title="src-travel")) != marked


texts = st.text(alphabet="aA-_.: é0", max_size=5)
keys = st.lists(
    st.sampled_from(("agent", "main", "dm", "a", "b", "-1", "a-b", "a.b", "", "0" * 16)), max_size=6
).map(":".join)
keys |= keys.map("agent:main:a:".__add__)
shapes = keys | keys.map(lambda key: key.replace(":", "-")) | texts
people = st.sampled_from([Person(one, "id", one) for one in ("a", "b", "a-b", "agent", "a_b")])
conversations = st.one_of(
    st.builds(gateway, shapes.filter(str.strip)),
    st.builds(
        gateway, shapes.filter(str.strip), st.just("api_server"), user_id=st.sampled_from((None, "1", "2"))
    ),
    st.builds(talk, session_title=shapes.filter(str.strip)),
    st.builds(
        talk,
        st.sampled_from(("irc", "api_server")),
        session_title=shapes.filter(str.strip),
        user_id=st.just("1"),
    ),
)
namespaces = st.sampled_from((None, "default", "a", "a-b", "a.b"))


def which(conversation, person, prefixed, namespace):
    """All that tells the session from others."""
    key = (conversation.gateway_session_key or "").strip()
    shared = conversation.platform == "api_server" or (not key and conversation.platform != "cli")
    alone = not prefixed and (not shared or (key and not conversation.user_id))
    kind = "http" if key and shared else "gateway" if key else conversation.platform
    return (
        kind,
        key or conversation.session_title.strip(),
        None if alone else person.peer,
        namespace or "default",
    )


def forged(name):
    """The conversations of those who choose that name for theirs."""
    yield gateway(name)
    yield gateway(name.replace("-", ":"))
    yield gateway(name, "api_server")
    yield talk(session_title=name)
    for lead in ("a-", "b-", "agent-", "api-", "a-b-"):
        yield talk(session_title=name.removeprefix(lead))
        yield gateway(name.removeprefix(lead).replace("-", ":"))


@PROPERTY
@given(st.lists(st.tuples(conversations, people, namespaces), max_size=6), st.booleans())
def test_different_conversations_have_different_sessions_whatever_they_are_called(several, prefixed):
    several += [
        (forger, person, None)
        for conversation, person, namespace in several
        for forger in forged(
            name(conversation, person, session_peer_prefix=prefixed, namespaces=Namespaces(write=namespace))
        )
    ]
    sessions = {}
    for conversation, person, namespace in several:
        found = name(
            conversation, person, session_peer_prefix=prefixed, namespaces=Namespaces(write=namespace)
        )
        assert NAME.match(found)
        told = which(conversation, person, prefixed, namespace)
        assert sessions.setdefault(found, told) == told


odd = st.text(max_size=300) | st.text(alphabet="a:%\0\ud800\udcff", max_size=5)
anything = st.none() | odd
paths = st.builds(str.__add__, st.sampled_from(("", "/", "~", "~/")), odd)


@PROPERTY
@given(
    st.sampled_from(("cli", "telegram", "api_server")), anything, anything, anything,
    st.sampled_from(("per-session", "per-directory", "per-repo", "global")),
    st.dictionaries(paths, odd, max_size=2),
    st.booleans(), st.sampled_from((OWNER, None)),
)  # fmt: skip
def test_whatever_is_said_the_answer_is_a_name(
    platform, key, title, session_id, strategy, sessions, prefixed, person
):
    conversation = talk(platform, gateway_session_key=key, session_title=title)
    answers = {"session_strategy": strategy, "sessions": sessions, "session_peer_prefix": prefixed}
    first, second = (name(conversation, person, session_id or "", **answers) for _ in range(2))
    assert first == second
    assert NAME.match(first)
