"""Who a conversation is with."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pace import examples
from souvenance.hermes.configuration import Configuration
from souvenance.hermes.host import PERSONAL, HostConversation
from souvenance.hermes.identity import IdentityClaim, Person, agent_peer, claimed, identify

PROPERTY = settings(max_examples=examples(250), deadline=None, derandomize=True, database=None)
NAME = re.compile(r"[a-zA-Z0-9_-]{1,100}\Z")
ESCALATED = r"-[0-9a-f]{16}\Z"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "hermes-identity.md"
KEYS = re.search(r"^\| key \|.*?\n\n", PAGE.read_text("utf-8"), re.M | re.S)[0].splitlines()[2:-1]


def configured(**settings) -> Configuration:
    required = {
        "home": Path("home"),
        "store": Path("store"),
        "host": "hermes",
        "workspace": "hermes",
        "ai_peer": "hermes",
    }
    return Configuration(**{**required, **settings})


def talk(platform="telegram", **said) -> HostConversation:
    return HostConversation(
        session_id="s1", platform=platform, home=Path("home"), directory=Path("/code/src"), **said
    )


def http(key=None, **said) -> HostConversation:
    return talk("api_server", gateway_session_key=key, **said)


def person(conversation, **settings) -> Person:
    found = identify(configured(**settings), conversation)
    assert found is not None
    return found


def peer(conversation, **settings) -> str:
    return person(conversation, **settings).peer


ALL_ANSWERS = {
    "pin_user_peer": True,
    "peer_name": "owner",
    "user_peer_aliases": {"1": "one", "uno": "other"},
    "runtime_peer_prefix": "tg_",
}


@pytest.mark.parametrize(
    ("conversation", "without", "expected"),
    [
        (talk(user_id="1"), (), Person("owner", "pin", "1")),
        (talk(user_id="1", user_id_alt="uno"), ("pin_user_peer",), Person("one", "alias", "1")),
        (talk(user_id="2", user_id_alt="uno"), ("pin_user_peer",), Person("other", "alias-alt", "uno")),
        (talk(user_id="2"), ("pin_user_peer",), Person("tg_2", "prefix", "2")),
        (talk(user_id="2"), ("pin_user_peer", "runtime_peer_prefix"), Person("2", "id", "2")),
        (talk("cli"), ("pin_user_peer",), Person("owner", "name")),
        (talk("cli"), ("pin_user_peer", "peer_name"), Person("user", "key")),
    ],
    ids=lambda value: value.rung if isinstance(value, Person) else "",
)
def test_the_first_rung_that_holds_decides(conversation, without, expected):
    assert person(conversation, **{k: v for k, v in ALL_ANSWERS.items() if k not in without}) == expected


def test_the_last_rung_is_a_peer_of_the_chat():
    found = person(talk("homeassistant", gateway_session_key="agent:main:homeassistant:group:kitchen"))
    assert re.fullmatch(r"user-homeassistant-kitchen-[0-9a-f]{16}", found.peer)
    assert found.rung == "key"


def test_a_pin_without_a_name_pins_nobody():
    assert peer(talk(user_id="7"), pin_user_peer=True) == "7"


def test_an_alternative_id_stands_in_where_there_is_no_id():
    assert peer(talk(user_id=" ", user_id_alt="ann")) == "ann"


def test_an_alias_that_names_nobody_is_none():
    assert peer(talk(user_id="7"), user_peer_aliases={"7": "  "}) == "7"


@pytest.mark.parametrize(
    "said", [{}, {"user_id": ""}, {"user_id": " \t"}, {"user_id": "", "gateway_session_key": " "}]
)
@pytest.mark.parametrize("platform", ["api_server", "telegram", "webhook", "irc", ""])
def test_nobody_is_never_taken_for_the_owner(platform, said):
    assert identify(configured(peer_name="owner"), talk(platform, **said)) is None


@pytest.mark.parametrize("platform", sorted(PERSONAL))
def test_who_runs_a_personal_platform_is_the_owner(platform):
    assert person(talk(platform), peer_name="owner") == Person("owner", "name")
    assert person(talk(platform)) == Person("user", "key")


def test_only_the_owner_of_a_pinned_or_personal_agent_is_alone_with_it():
    assert person(talk("cli"), peer_name="owner").personal
    assert person(talk("cli")).personal
    assert person(talk(user_id="7"), peer_name="owner", pin_user_peer=True).personal
    assert not person(talk(user_id="7"), user_peer_aliases={"7": "owner"}).personal
    assert not person(http("user:7")).personal
    assert not person(http("some-key")).personal


def test_the_pin_is_the_word_that_lets_requests_without_a_name_in():
    assert person(http(), peer_name="owner", pin_user_peer=True) == Person("owner", "pin")


@pytest.mark.parametrize(
    "plain",
    ["8439114563", "-1001234567890", "U04ABC", "alice_b", "12345678", "123e4567-e89b-12d3-a456-426614174000"],
)
def test_an_id_that_is_a_name_is_the_peer(plain):
    assert peer(talk(user_id=plain)) == plain
    assert peer(talk(user_id=f"  {plain}\n")) == plain
    assert peer(talk(user_id=plain), runtime_peer_prefix=" tg- ") == f"tg-{plain}"


ALIKE = [
    "a-b",
    "a.b",
    "a b",
    "a:b",
    "A.B",
    "a\N{NO-BREAK SPACE}b",
    "a..b",
    "a--b",
    "a.b.",
    "\u00e0",
    "a\u0300",
    "山田",
    "田中",
]


@pytest.mark.parametrize("prefix", ["", "tg_", "tg-", "t g"])
def test_ids_that_look_alike_are_different_people(prefix):
    peers = [peer(talk(user_id=one), runtime_peer_prefix=prefix) for one in ALIKE]
    assert len(set(peers)) == len(ALIKE)
    assert all(NAME.match(name) for name in peers)


def test_a_letter_and_its_decomposed_twin_are_different_ids():
    assert peer(talk(user_id=unicodedata.normalize("NFC", "é"))) != peer(
        talk(user_id=unicodedata.normalize("NFD", "é"))
    )


def test_an_id_that_looks_escalated_is_escalated():
    victim = peer(talk(user_id="a.b"))
    assert re.fullmatch(rf"a-b{ESCALATED}", victim)
    assert peer(talk(user_id=victim)) != victim
    assert peer(http(f"user:{victim}")) != victim


@pytest.mark.parametrize("taken", ["hermes", "owner", "one", "Anna-B", "user", "ai"])
@pytest.mark.parametrize("prefix", ["", "her"])
def test_no_id_reaches_a_name_that_the_configuration_gave(taken, prefix):
    answers = {"peer_name": "owner", "user_peer_aliases": {"1": "one", "2": "Anna B"}}
    found = peer(talk(user_id=taken.removeprefix(prefix)), runtime_peer_prefix=prefix, **answers)
    assert found not in ("hermes", "owner", "one", "Anna-B", "user", "ai")


def test_an_escalated_id_grows_until_nobody_configured_has_it():
    short = peer(talk(user_id="a.b"))
    longer = peer(talk(user_id="a.b"), peer_name=short)
    assert re.fullmatch(r"a-b-[0-9a-f]{24}", longer)
    longest = peer(talk(user_id="a.b"), peer_name=short, user_peer_aliases={"x": longer})
    assert re.fullmatch(r"a-b-[0-9a-f]{32}", longest)


def test_an_escalated_claim_grows_too():
    short = peer(http("user:a.b"))
    assert re.fullmatch(r"api-user-a-b-[0-9a-f]{24}", peer(http("user:a.b"), peer_name=short))


def test_a_long_id_is_cut_and_told_apart():
    one, other = peer(talk(user_id="x" * 300 + "1")), peer(talk(user_id="x" * 300 + "2"))
    assert one != other
    assert len(one) == len(other) == 100
    assert peer(talk(user_id="x" * 100)) == "x" * 100


def test_a_configured_name_looks_as_it_does_with_honcho():
    assert peer(talk("cli"), peer_name=" Anna B. ") == "Anna-B-"
    assert peer(talk(user_id="1"), user_peer_aliases={"1": "anna@home"}) == "anna-home"


def test_configured_names_that_look_alike_are_different_people():
    aliases = {"1": "anna b", "2": "anna.b", "3": "anna-b"}
    first, second, third = (peer(talk(user_id=one), user_peer_aliases=aliases) for one in aliases)
    assert third == "anna-b"
    assert len({first, second, third}) == 3


@pytest.mark.parametrize("spelled", ["hermes", "ai", "user"])
def test_no_person_is_the_agent(spelled):
    agent = {"ai_peer": "user"} if spelled == "user" else {}
    for conversation in (talk("cli"), talk(user_id="1"), talk(user_id=spelled), http(f"user:{spelled}")):
        answers = {"peer_name": spelled, "user_peer_aliases": {"1": spelled}} if spelled != "user" else {}
        assert peer(conversation, **answers, **agent) not in (agent_peer(configured(**agent)), "ai")


def test_the_agent_has_a_name_within_the_limits():
    assert agent_peer(configured()) == "hermes"
    assert agent_peer(configured(ai_peer="my agent")) == "my-agent"
    assert agent_peer(configured(ai_peer=" ")) == "hermes"
    assert NAME.match(agent_peer(configured(ai_peer="x" * 600)))


@pytest.mark.parametrize(
    ("key", "claim"),
    [
        ("user:42", IdentityClaim("user", "42")),
        ("webui:user:42", IdentityClaim("user", "42")),
        ("user:42:chat-7", IdentityClaim("user", "42")),
        ("app:user:42:chat:7", IdentityClaim("user", "42")),
        ("user:alice%3Awork", IdentityClaim("user", "alice:work")),
        ("user: 42 ", IdentityClaim("user", "42")),
        ("user:user", IdentityClaim("user", "user")),
        ("user:42:user:42", IdentityClaim("user", "42")),
        ("agent:main:webui:dm:user-42", IdentityClaim("webui", "user-42")),
        ("agent:main:webui:dm:user-42:thread", IdentityClaim("webui", "user-42")),
        ("agent:coder:webui:dm:alice%3Awork", IdentityClaim("webui", "alice:work")),
        ("agent:user:webui:dm:42", IdentityClaim("webui", "42")),
        ("agent:main:user:dm:42", IdentityClaim("user", "42")),
        ("agent:main:webui:dm:user:42", IdentityClaim("user", "42")),
        ("agent:main:discord:group:9:user:42", IdentityClaim("user", "42")),
        ("user:", IdentityClaim("user", "")),
        ("user:%20:chat", IdentityClaim("user", "")),
        ("user:42:user:", IdentityClaim("user", "")),
        ("agent:main:webui:dm:", IdentityClaim("webui", "")),
        ("user:41:user:42", None),
        ("user:user:42", None),
        ("webui:user-42", None),
        ("superuser:42", None),
        ("User:42", None),
        ("user", None),
        ("agent:main:discord:group:9", None),
        ("agent:main:matrix:dm:!room:server:thread", None),
        ("agent:main::dm:42", None),
        ("", None),
        (None, None),
    ],
)
def test_a_session_key_may_name_a_person(key, claim):
    assert claimed(key) == claim


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("user:42", "api-user-42"),
        ("webui:user:42", "api-user-42"),
        ("agent:main:webui:dm:user-42", "api-webui-user-42"),
        ("agent:main:webui:dm:user-42:thread", "api-webui-user-42"),
    ],
)
def test_a_caller_of_the_http_api_has_a_peer_of_its_own_kind(key, name):
    assert person(http(key), peer_name="owner") == Person(
        name, "id", f"{claimed(key).channel}:{claimed(key).id}"
    )


@pytest.mark.parametrize("row", KEYS)
def test_the_page_says_who_a_key_names(row):
    keys, _, told = row.strip("|").split("|")
    for key in re.findall(r"`(.*?)`", keys):
        found = identify(configured(peer_name="owner"), http(key))
        readable, escalated = told.strip(" `…"), "…" in told
        assert (found is None) == (readable == "")
        assert found is None or re.fullmatch(
            f"{readable}[0-9a-f]{{16}}" if escalated else readable, found.peer
        )


def test_the_prefix_holds_for_callers_of_the_http_api_too():
    assert person(http("user:42"), runtime_peer_prefix="acme_") == Person(
        "acme_api-user-42", "prefix", "user:42"
    )


def test_who_the_host_names_and_who_the_key_names_are_one_person():
    assert peer(http(user_id="42")) == peer(http("user:42")) == peer(http("user:7", user_id="42"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("agent:main:a-b:dm:c", "agent:main:a:dm:b-c"),
        ("agent:main:user:dm:a-b", "agent:main:user-a:dm:b"),
        ("user:%ff", "user:%fe"),
        ("user:%ff", "user:\ufffd"),
        ("user:a:b", "user:a%3Ab"),
        ("user:a", "user:A"),
    ],
)
def test_callers_who_look_alike_are_different_people(one, other):
    assert peer(http(one)) != peer(http(other))


def test_a_lone_surrogate_is_a_character_like_any_other():
    ids = ("\ud800", "\udcff", "?", "\ufffd", "\ud83d\ude00", "\U0001f600")
    assert len({peer(talk(user_id=one)) for one in ids}) == len(ids)


@pytest.mark.parametrize(
    "key", ["7654321", "user:7654321", "telegram:7654321", "agent:main:telegram:dm:7654321"]
)
@pytest.mark.parametrize("prefix", ["", "telegram_"])
def test_no_key_of_the_http_api_reaches_somebody_on_another_platform(key, prefix):
    answers = {"peer_name": "owner", "runtime_peer_prefix": prefix}
    native = [
        talk(user_id="7654321"),
        talk(gateway_session_key="agent:main:telegram:dm:7654321"),
        talk("cli"),
        talk(user_id="api-user-7654321"),
    ]
    assert peer(http(key), **answers) not in {peer(one, **answers) for one in native}


def test_an_alias_of_an_id_does_not_hold_for_a_key_that_repeats_it():
    aliases = {"7654321": "owner"}
    assert peer(talk(user_id="7654321"), user_peer_aliases=aliases) == "owner"
    assert peer(http("user:7654321"), user_peer_aliases=aliases) == "api-user-7654321"
    assert peer(http("7654321"), user_peer_aliases=aliases) != "owner"


def test_an_alias_that_spells_the_claim_holds():
    aliases = {"user:42": "alice", "webui:user-42": "bob"}
    assert person(http("chat:user:42"), user_peer_aliases=aliases) == Person("alice", "alias", "user:42")
    assert peer(http("agent:main:webui:dm:user-42"), user_peer_aliases=aliases) == "bob"
    assert peer(http(user_id="42"), user_peer_aliases=aliases) == "alice"


def test_the_ladder_holds_for_an_id_that_the_host_passes_over_the_http_api():
    assert peer(http(user_id="42"), user_peer_aliases={"42": "alice"}) == "alice"
    assert peer(http(user_id="42", user_id_alt="al"), user_peer_aliases={"al": "alice"}) == "alice"


@pytest.mark.parametrize("key", ["webui:user-42", "opaque", "user:1:user:2", "agent:main:discord:group:9"])
def test_any_other_key_is_a_peer_of_its_own(key):
    found = person(http(key), peer_name="owner")
    assert found.rung == "key"
    assert re.search(ESCALATED, found.peer)
    assert found.peer != peer(http(f"{key}0"))
    assert found.peer != peer(talk(gateway_session_key=key))


@pytest.mark.parametrize(
    "key", ["user:", "user:%20", "agent:main:webui:dm", "agent:main:webui:dm:", "agent:main:x:dm: "]
)
def test_a_key_that_leaves_the_person_out_names_nobody(key):
    assert identify(configured(peer_name="owner"), http(key)) is None


def test_a_gateway_that_names_neither_user_nor_chat_names_nobody():
    assert identify(configured(peer_name="owner"), talk(gateway_session_key="agent:main:telegram:dm")) is None


ids = st.text(alphabet="aA-_.:% é0", max_size=4) | st.sampled_from(
    ("api-user-a", "user-a-a", "user", "ai", "hermes")
)
keys = st.lists(st.sampled_from(("agent", "main", "user", "dm", "a", "b", "a-b", "a.b", "")), max_size=7).map(
    ":".join
)
prefixes = st.sampled_from(("", "a", "a-", "api-", "user-", "user-a-", "é."))
conversations = st.one_of(
    st.builds(talk, st.sampled_from(("telegram", "irc")), user_id=ids),
    st.builds(talk, st.just("telegram"), gateway_session_key=keys | ids),
    st.builds(http, keys | ids),
    st.builds(http, keys, user_id=ids),
)
odd = st.text(max_size=300) | st.text(alphabet="a:%\0\ud800\udcff", max_size=5)
anything = st.none() | odd


def who(conversation):
    """What tells the person of the conversation from others, where no alias has a say."""
    runtime_id, key = (conversation.user_id or "").strip(), (conversation.gateway_session_key or "").strip()
    if conversation.platform != "api_server":
        return ("id", runtime_id) if runtime_id else ("key", key)
    claim = IdentityClaim("user", runtime_id) if runtime_id else claimed(key)
    return ("http key", key) if claim is None else ("claim", *claim)


def forged(name):
    """The conversations of those who choose that name for themselves."""
    yield talk(user_id=name)
    yield talk(gateway_session_key=name)
    for key in (name, f"user:{name}", f"agent:main:a:dm:{name}", name.removeprefix("api-").replace("-", ":")):
        yield http(key)
    for lead in ("a", "a-", "api-", "api-user-", "api-a-", "user-", "user-a-"):
        yield talk(user_id=name.removeprefix(lead))
        yield http(f"user:{name.removeprefix(lead)}")


@PROPERTY
@given(st.lists(conversations, max_size=8), prefixes)
def test_different_people_have_different_peers_whatever_they_call_themselves(several, prefix):
    configuration = configured(peer_name="owner", user_peer_aliases={"1": "one"}, runtime_peer_prefix=prefix)
    several += [
        forger for one in several if (found := identify(configuration, one)) for forger in forged(found.peer)
    ]
    people = {}
    for conversation in several:
        if (found := identify(configuration, conversation)) is not None:
            assert NAME.match(found.peer)
            assert people.setdefault(found.peer, who(conversation)) == who(conversation)


@PROPERTY
@given(conversations, prefixes, st.lists(ids, max_size=3))
def test_nobody_reaches_a_configured_peer_without_an_alias(conversation, prefix, targets):
    aliases = {f"alias {number}": target for number, target in enumerate(targets)}
    configuration = configured(peer_name="owner", user_peer_aliases=aliases, runtime_peer_prefix=prefix)
    given_away = {
        identify(configuration, talk(user_id=alias)).peer for alias in aliases if aliases[alias].strip()
    }
    found = identify(configuration, conversation)
    assert found is None or found.peer not in given_away | {"owner", "hermes", "user", "ai"}


@PROPERTY
@given(st.lists(ids.filter(str.strip), max_size=5))
def test_different_configured_names_are_different_peers(targets):
    aliases = {f"alias {number}": target for number, target in enumerate(targets)}
    peers = {peer(talk(user_id=alias), user_peer_aliases=aliases) for alias in aliases}
    assert len(peers) == len({target.strip() for target in targets})


@PROPERTY
@given(
    st.sampled_from(("cli", "telegram", "api_server")), anything, anything, anything, anything,
    st.dictionaries(st.text(max_size=3), odd, max_size=3),
    odd, st.booleans(),
)  # fmt: skip
def test_whatever_is_said_the_answer_is_a_name_or_nobody(
    platform, user_id, alt, key, name, aliases, prefix, pin
):
    answers = {
        "peer_name": name,
        "user_peer_aliases": aliases,
        "runtime_peer_prefix": prefix,
        "pin_user_peer": pin,
    }
    conversation = talk(platform, user_id=user_id, user_id_alt=alt, gateway_session_key=key)
    first, second = (identify(configured(**answers), conversation) for _ in range(2))
    assert first == second
    assert first is None or NAME.match(first.peer)
    assert platform != "cli" or first is not None
