"""Every documented setting does what it says: set to different values, the provider does different things."""

import json
from collections import Counter
from itertools import count

import pytest

from hermes.honcho_fake import Honcho, eventually
from hermes.host_fake import Host, worked_off
from hermes.stage import Stage
from souvenance.config import Settings
from souvenance.hermes.configuration import KEYS

TRIP = "I am going to Chengdu in May."
QUESTION = "When do I go to Chengdu?"
ELSEWHERE = "http://memory.example"
"""A server that is not near, reached through a proxy, which is the recording server."""


class Scene:
    """A profile with one setting, and a server that notes what leaves it."""

    def __init__(self, folder, honcho, given):
        self.folder = folder
        self.honcho = honcho
        (folder / "repo" / ".git").mkdir(parents=True)
        self.stage = Stage(folder)
        self.stage.directory = folder / "repo" / "project"
        self.stage.directory.mkdir()
        self._given = {"baseUrl": honcho.url, "recallWait": 10, "peerName": "ann", **given}
        self._block = {}
        self.configure()

    def configure(self, **instead):
        """Have the setting, over those of the demonstration; or others in place of all that."""
        root = {name: value for name, value in (instead or self._given).items() if value is not None}
        text = json.dumps(root if instead else {**root, "hosts": {"hermes": self._block}})
        (self.stage.home / "souvenance.json").write_text(text)
        (self.stage.home / "souvenance.json").chmod(0o600)

    def set(self, spelling, value, *, beside):
        """In the environment, or in the host's block, which wins over what is given at the root."""
        value = value(self) if callable(value) else value
        if spelling.startswith("HONCHO_"):
            self.stage.environment[spelling] = str(value)
        else:
            self._block[spelling] = value
        for other in beside:
            self._given.pop(other, None)
        self.configure()

    def provider(self, session="s1", platform="cli", **told):
        return self.stage.provider(session, platform, **told)

    def tell(self, user=TRIP, assistant="Noted.", **told):
        self.stage.tell(self.provider(**told), user, assistant)
        return self

    def known(self):
        """The scene once the server knows the trip, and the way to it is open."""
        self.honcho.state("hermes", "ann", TRIP)
        self.honcho.say("project", "ann", "Good morning.")
        self.provider().handle_tool_call("souvenance_profile", {})
        return self

    def recall(self, message=QUESTION, turn=1, provider=None):
        return self.stage.recall(provider or self.provider(), message, turn)

    def said(self):
        """Who said what, by workspace and session."""
        return {
            (workspace, session): self.honcho.texts(session, workspace)
            for workspace in self.honcho.workspaces
            for session in self.honcho.sessions(workspace)
        }

    def texts(self):
        return [text for texts in self.said().values() for _, text in texts]

    def speakers(self):
        return [peer for texts in self.said().values() for peer, _ in texts]

    def session(self):
        ((_, name),) = self.tell().said()
        return name

    def levels(self):
        """How hard memory thought about each question."""
        return [one.body.get("reasoning_level", "low") for one in self.honcho.requests("/chat$")]


class Shown:
    def __init__(self, observe, cases, local, given):
        self.observe = observe
        self.cases = cases
        self.local = local
        self.given = given


SHOWN = {}


def shows(key, *cases, local=False, **given):
    """Each case is a value of the setting, and what is then observed."""

    def noted(observe):
        SHOWN[key] = Shown(observe, cases, local, {**({"baseUrl": None} if local else {}), **given})
        return observe

    return noted


@shows("enabled", (True, (5, True, [TRIP, "Noted."])), (False, (0, False, [])))
def what_there_is(scene):
    scene.tell()
    provider = scene.provider()
    return len(provider.get_tool_schemas()), bool(provider.system_prompt_block()), scene.texts()


@shows("baseUrl", (lambda scene: scene.honcho.url, "server"), ("", "store"), local=True)
def where_it_is_written(scene):
    scene.tell()
    return "server" if scene.texts() else "store" if scene.stage.sessions() else "nowhere"


@shows("apiKey", ("key-one", {"key-one"}), ("key-two", {"key-two"}), baseUrl=ELSEWHERE)
def what_the_server_knows_us_by(scene):
    scene.tell()
    assert {one.host for one in scene.honcho.asked} == {"memory.example"}
    return {one.bearer for one in scene.honcho.asked}


def grant(scene):
    scene.honcho.grants["hch-rt-1"] = ("hch-at-2", "hch-rt-2")
    return {
        "refreshToken": "hch-rt-1",
        "expiresAt": 1_700_000_000,
        "clientId": "hermes-agent",
        "tokenEndpoint": f"{scene.honcho.url}/oauth/token",
    }


@shows("oauth", (grant, {"hch-at-2"}), ({}, {"hch-at-1"}), hosts={"hermes": {"apiKey": "hch-at-1"}})
def which_token_is_sent(scene):
    scene._block["apiKey"] = "hch-at-1"
    scene.configure()
    scene.tell()
    return {one.bearer for one in scene.honcho.requests("^/v3/")}


@shows(
    "environment",
    ("production", ({"api.honcho.dev:443"}, "https://api.honcho.dev")),
    ("local", (set(), "http://localhost:8000")),
    local=True,
    apiKey="key",
)
def which_server_is_asked(scene):
    provider = scene.provider()
    scene.recall(provider=provider)
    through_proxy = {one.host for one in scene.honcho.asked if one.method == "CONNECT"}
    return through_proxy, provider.get_status_config({})["memory"]


@shows("timeout", (0.2, True), (20, False))
def whether_it_is_given_up(scene):
    scene.honcho.pause = lambda asked: 0.7
    answer = scene.provider().handle_tool_call("souvenance_profile", {})
    return "error" in json.loads(answer)


@shows(
    "store",
    (lambda scene: str(scene.folder / "elsewhere"), ["elsewhere"]),
    ("$HERMES_HOME/here", ["home/here"]),
    local=True,
)
def where_the_store_lies(scene):
    scene.tell()
    places = ("elsewhere", "home/here", "home/souvenance")
    return [place for place in places if Settings(scene.folder / place).database.exists()]


@shows("workspace", ("shared", {"shared"}), ("mine", {"mine"}))
def which_workspace(scene):
    return {workspace for workspace, _ in scene.tell().said()}


@shows(
    "namespaces",
    (["personal"], ("peanuts", "none")),
    (["travel"], ("none", "Chengdu")),
    (["travel", "personal"], ("peanuts", "Chengdu")),
    local=True,
)
def what_is_read(scene):
    scene.configure(peerName="ann", namespaces="personal")
    scene.tell("I am allergic to peanuts.", session="s2")
    scene.configure(peerName="ann", namespaces="travel")
    scene.tell(TRIP, session="s3")
    scene.configure()
    told = scene.recall("When is Chengdu, and are there peanuts?", provider=scene.provider("s4"))
    return tuple(word if word in told else "none" for word in ("peanuts", "Chengdu"))


@shows("peerName", ("ann", ["ann", "hermes"]), ("bea", ["bea", "hermes"]))
def who_owns_it(scene):
    return scene.tell().speakers()


@shows("aiPeer", ("coder", ["ann", "coder"]), ("muse", ["ann", "muse"]))
def who_answers(scene):
    return scene.tell().speakers()


def who_writes(scene):
    return scene.tell(platform="telegram", user_id="77", gateway_session_key="agent:main:telegram:dm:1")


@shows("pinUserPeer", (True, "ann"), (False, "77"))
@shows("userPeerAliases", ({"77": "bob"}, "bob"), ({"78": "bob"}, "77"))
@shows("runtimePeerPrefix", ("tg_", "tg_77"), ("", "77"))
def who_a_stranger_is(scene):
    return who_writes(scene).speakers()[0]


@shows(
    "recallMode", ("hybrid", (True, 5)), ("context", (True, 0)), ("tools", (False, 5)), ("auto", (True, 5))
)
def how_it_reaches_the_model(scene):
    provider = scene.known().provider()
    return "Chengdu" in scene.recall(provider=provider), len(provider.get_tool_schemas())


@shows("toolNames", ("souvenance", ("souvenance", True, False)), ("honcho", ("honcho", False, True)))
def what_tools_are_called(scene):
    provider = scene.known().provider()
    (prefix,) = {schema["name"].split("_")[0] for schema in provider.get_tool_schemas()}
    answers = [provider.handle_tool_call(f"{name}_profile", {}) for name in ("souvenance", "honcho")]
    return prefix, *("error" not in answer for answer in answers)


def habits(user_me, user_others, ai_me, ai_others):
    return {
        "ann": {"observe_me": user_me, "observe_others": user_others},
        "hermes": {"observe_me": ai_me, "observe_others": ai_others},
    }


def views(scene):
    """Whose views of whom are looked up for a turn."""
    scene.recall()
    asked = scene.honcho.requests("/peers/[^/]+/(context|representation)$")
    return {(one.path.split("/")[5], one.query.get("target", "")) for one in asked}


@shows(
    "observationMode",
    ("directional", (habits(True, True, True, True), {("hermes", "ann"), ("ann", ""), ("hermes", "")})),
    ("unified", (habits(True, False, False, True), {("hermes", "ann"), ("ann", "")})),
)
@shows(
    "observation",
    ({"ai": {"observeOthers": False}}, (habits(True, True, True, False), {("ann", ""), ("hermes", "")})),
    (
        {"user": {"observeMe": False, "observeOthers": False}},
        (habits(False, False, True, True), {("hermes", "ann"), ("hermes", "")}),
    ),
)
def who_learns_of_whom(scene):
    scene.tell()
    return scene.honcho.of().sessions["project"].peers, views(scene)


@shows("saveMessages", (True, [TRIP, "Noted."]), (False, []))
def what_is_kept(scene):
    return scene.tell().texts()


@shows("groupChats", (True, ([TRIP, "Noted."], "ok")), (False, ([], "unauthenticated")))
def what_a_group_has(scene):
    group = {"platform": "telegram", "user_id": "7", "chat_id": "9", "chat_type": "group"}
    kept = scene.tell(**group).texts()
    told = scene.provider(**group).handle_tool_call("souvenance_profile", {})
    return kept, json.loads(told).get("error", "ok")


@shows("messageMaxChars", (20, [20, 20, 20, 14]), (100, [38]))
def how_long_messages_are(scene):
    return [len(text) for text in scene.tell("abcdefgh" * 4 + "abcdef", "").texts()]


@shows(
    "sessionStrategy",
    ("per-directory", "project"),
    ("per-session", "s1"),
    ("per-repo", "repo"),
    ("global", "hermes"),
)
@shows("sessionPeerPrefix", (True, "ann-project"), (False, "project"))
@shows(
    "sessions",
    (lambda scene: {str(scene.stage.directory): "mapped"}, "mapped"),
    (lambda scene: {str(scene.folder): "mapped"}, "project"),
)
def what_the_session_is_called(scene):
    return scene.session()


def thoughts(scene, message=QUESTION, answer="Likes tea."):
    scene.known().honcho.think = lambda query, level: answer
    told = scene.recall(message)
    assert answer[:5] in told
    return scene.levels()


@shows("dialecticReasoningLevel", ("minimal", ["minimal"]), ("high", ["high"]))
def how_it_is_thought_about(scene):
    return thoughts(scene)


@shows("dialecticDynamic", (True, (["max"], True)), (False, (["low"], False)))
def whether_the_model_chooses(scene):
    provider = scene.known().provider()
    provider.handle_tool_call("souvenance_reasoning", {"query": "Who am I?", "reasoning_level": "max"})
    schemas = {schema["name"]: schema["parameters"]["properties"] for schema in provider.get_tool_schemas()}
    return scene.levels(), "reasoning_level" in schemas["souvenance_reasoning"]


@shows("dialecticMaxChars", (100, 16), (600, 99))
def how_much_of_an_answer_is_shown(scene):
    scene.known().honcho.think = lambda query, level: "berry " * 200
    return scene.recall().count("berry")


@shows("dialecticMaxInputChars", (300, True), (5000, False))
def how_long_a_question_is(scene):
    scene.known().honcho.think = lambda query, level: "Likes tea."
    scene.recall("word " * 600)
    ((query),) = [one.body["query"] for one in scene.honcho.requests("/chat$")]
    return len(query) <= 300


@shows("contextTokens", (100, 1), (None, 4), (1200, 4), (0, 15))
def how_much_is_shown(scene):
    why = "which is why people who come there for a week stay for a month, and most come back"
    facts = [f"Fact {number} about Chengdu is its many teahouses, {why}." for number in range(15)]
    for fact in facts:
        scene.honcho.state("hermes", "ann", fact)
    told = scene.known().recall()
    return sum(fact in told for fact in facts)


def four_turns(scene):
    scene.known().honcho.think = lambda query, level: "Likes tea."
    before = len(scene.honcho.asked)
    provider = scene.provider()
    told = [scene.recall(turn=turn, provider=provider) for turn in range(1, 5)]
    asked = Counter(one.path.split("/")[-1] for one in scene.honcho.asked[before:])
    return asked, told


@shows("dialecticCadence", (1, 4), (2, 2), (3, 2), (9, 1))
def how_often_it_is_asked(scene):
    return four_turns(scene)[0]["chat"]


@shows("hostModel", (True, 1), (False, 0), (None, 0), local=True)
@shows("hostModelCallsPerDay", (0, 0), (1, 1), local=True, hostModel=True)
@shows("hostModelTokensPerDay", (100, 0), (9000, 1), local=True, hostModel=True)
def how_often_hermes_own_model_is_asked(scene):
    with pytest.MonkeyPatch.context() as patch:
        host = Host().offer(patch)
        scene.tell()
        assert eventually(lambda: worked_off(scene.stage))
        scene.stage.close()
    return len(host.asked)


@shows("injectionFrequency", ("every-turn", [True] * 4), ("first-turn", [True, False, False, False]))
def in_which_turns_it_is_shown(scene):
    return ["Chengdu in May" in text for text in four_turns(scene)[1]]


def slow(scene, route):
    scene.known().honcho.think = lambda query, level: "Likes tea."
    scene.honcho.pause = lambda asked: 0.5 if asked.path.endswith(route) else 0.0
    return scene


@shows("recallWait", (0.05, ["", ""]), (10, ["Chengdu", "tea"]))
def how_long_a_turn_waits(scene):
    told = slow(scene, "").recall(turn=2)
    return [word if word in told else "" for word in ("Chengdu", "tea")]


@pytest.fixture
def scenes(tmp_path, monkeypatch):
    """Makes the scene of a demonstration, and closes it in the end."""
    for variable in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    made, numbers = [], count()

    def make(shown):
        honcho = Honcho()
        for variable in ("HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(variable, honcho.url)
        made.append(Scene(tmp_path / str(next(numbers)), honcho, shown.given))
        return made[-1]

    yield make
    for scene in made:
        scene.honcho.pause = lambda asked: 0.0
        scene.stage.close()
        scene.honcho.close()


def spellings():
    for key in KEYS:
        for spelling in (key.name, *key.aliases, key.variable):
            if spelling is not None:
                yield pytest.param(key, spelling, id=spelling)


def test_every_key_has_a_demonstration():
    assert SHOWN.keys() == {key.name for key in KEYS}


@pytest.mark.parametrize("key, spelling", list(spellings()))
def test_every_key_does_what_it_says(key, spelling, scenes):
    shown = SHOWN[key.name]
    seen = []
    for value, _ in shown.cases:
        scene = scenes(shown)
        scene.set(spelling, value, beside=(key.name, *key.aliases))
        seen.append(shown.observe(scene))
    assert seen == [expected for _, expected in shown.cases]
    assert any(one != seen[0] for one in seen[1:]), "the setting makes no difference"
