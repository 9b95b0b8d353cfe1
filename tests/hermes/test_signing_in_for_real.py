"""Signing in to a real server: with the command line, in the wizard, from a desktop; and what comes after."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from hermes.honcho_fake import eventually
from hermes.stage import Stage
from hermes.test_wizard import LEAVES, Nobody, Person
from hermes.visitor import visit
from souvenance import hermes_backends
from souvenance.errors import CapRevoked, NotFound, SignInDenied, SignInEnded, Unauthenticated
from souvenance.gate.conversation.messages import LIST_MESSAGES, ListMessages
from souvenance.gate.conversation.sessions import LIST_SESSIONS, ListSessions
from souvenance.gate.token_verifier import Credentials
from souvenance.hermes.config_files import read_configuration, write_setting
from souvenance.hermes.oauth_tokens import OAuthGrant, endpoints_of, exchange
from souvenance.hermes.profile_runtime import Surroundings
from souvenance.hermes.provider import Provider
from souvenance.hermes.setup.console import Abandoned
from souvenance.hermes.setup.profiles import HermesInstallation, choose_provider, profile_at
from souvenance.hermes.setup.status import lines, report
from souvenance.hermes.setup.wizard import WizardAnswers, set_up
from souvenance.hermes.sign_in import profile as desktop
from souvenance.hermes.sign_in import profile as signin
from souvenance.hermes.sign_in.flows import by_browser, by_code
from souvenance.hermes.sign_in.listener import Listener
from souvenance.plugin import Runtimes
from surfaces.door import serving

PATIENCE_SECONDS = 60
VISITOR = Path(__file__).with_name("visitor.py")
PROCESSES = 20


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("server")) as made:
        yield made


@pytest.fixture
def environment(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith(("HONCHO", "HERMES", "SOUVENANCE"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return {"HOME": str(tmp_path)}


@pytest.fixture
def home(tmp_path, environment):
    folder = tmp_path / ".hermes"
    folder.mkdir()
    return folder


def read(home):
    return read_configuration(home, {"HOME": str(home.parent)})[0]


def sign_in(server, home, environment, **chosen):
    """Somebody signs in and the profile keeps it."""

    def go(page):
        threading.Thread(target=visit, args=(page, server.owner_cap), kwargs=chosen).start()

    with Listener(0) as listener:
        signed = by_browser(endpoints_of(server.url), listener, go)
    return signin.keep(home, environment, server.url, signed)[1]


def expire(home, *, seconds=0):
    """Let the access token end in so many seconds, as far as we know."""
    kept = OAuthGrant.of(read(home))
    ended = replace(kept, expires_at=int(time.time()) + seconds).settings()
    write_setting(home, "hermes", ended, environment={"HOME": str(home.parent)})


def works(home):
    """Ask memory something, with whatever token that takes."""
    backend = hermes_backends.open_backend(read(home))
    try:
        backend.gate.call(
            LIST_SESSIONS, Credentials(backend.tokens._token()), ListSessions(workspace_id="hermes")
        )
    except NotFound:
        pass  # Nothing was said there yet.
    finally:
        backend.close()


def whoami(server, token):
    headers = {"authorization": f"Bearer {token}"}
    return httpx.get(
        f"{server.url}/v1/caps/whoami",
        headers=headers,
        timeout=PATIENCE_SECONDS,
        trust_env=False,
        verify=False,
    )


class TestCommandLine:
    def run(self, server, home, *arguments, decision="allow"):
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home.parent),
            "HERMES_HOME": str(home),
            "BROWSER": f"{sys.executable} {VISITOR} %s",
            "VISITOR_CAP": server.owner_cap,
            "VISITOR_DECISION": decision,
        }
        return subprocess.run(
            [sys.executable, "-m", "souvenance", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )

    def test_login_status_and_logout(self, server, home):
        told = self.run(server, home, "login", "--url", server.url)
        assert told.returncode == 0, told
        assert f"Signed in to {server.url}, workspace hermes, as alice." in told.stdout
        assert (home / "souvenance.json").stat().st_mode & 0o777 == 0o600
        token = read(home).api_key
        assert whoami(server, token).json()["sub"] == "alice"

        told = self.run(server, home, "hermes", "status")
        assert "OAuth (hermes-agent, valid for 60 min)" in told.stdout
        assert token not in told.stdout

        told = self.run(server, home, "logout", "--json")
        assert json.loads(told.stdout)["signed_out"] is True
        assert json.loads(told.stdout)["trouble"] == ""
        assert "hch-" not in (home / "souvenance.json").read_text()
        assert whoami(server, token).json()["error"] == "cap_revoked"

    def test_whoever_says_no_is_not_signed_in(self, server, home):
        told = self.run(server, home, "hermes", "login", "--url", server.url, "--json", decision="deny")
        assert told.returncode == 4, told
        assert json.loads(told.stderr.splitlines()[-1])["error"] == "sign_in_denied"
        assert not (home / "souvenance.json").exists()

    def test_options_of_other_commands_are_refused(self, server, home):
        told = self.run(server, home, "--cap", "x", "login", "--url", server.url)
        assert told.returncode == 2
        assert "after their name" in told.stderr

    @pytest.mark.parametrize("where", ["server", "store"])
    def test_open_links_to_the_pages_of_the_profile_s_memory(self, server, home, environment, where):
        settings = {"store": str(server.home)}
        if where == "server":
            settings = {"baseUrl": server.url, "apiKey": server.owner_cap}
        write_setting(home, "hermes", settings, environment=environment)
        told = self.run(server, home, "hermes", "open", "--print")
        assert told.stdout.startswith(f"{server.url}/inspect/sign-in?link="), told
        page = httpx.get(
            told.stdout.strip(),
            follow_redirects=True,
            timeout=PATIENCE_SECONDS,
            trust_env=False,
            verify=False,
        )
        assert page.status_code == 200

    def test_open_without_a_server_says_what_to_run(self, server, home):
        told = self.run(server, home, "hermes", "open")
        assert told.returncode == 9, told
        assert f"souvenance --home {home / 'souvenance'} serve" in told.stderr


def test_by_a_code_typed_on_another_device(server, environment):
    shown = []

    def type_it(_):
        visit(shown[0].verification_uri, server.owner_cap, user_code=shown[0].user_code, peer="dora")

    signed = by_code(endpoints_of(server.url), shown.append, wait=type_it)
    assert whoami(server, signed.grant.access).json()["sub"] == "dora"
    assert signin.consented(signed) == {"peerName": "dora", "workspace": "hermes"}


def test_a_code_that_is_refused(server, environment):
    shown = []

    def refuse_it(_):
        visit(shown[0].verification_uri, server.owner_cap, "deny", user_code=shown[0].user_code)

    with pytest.raises(SignInDenied):
        by_code(endpoints_of(server.url), shown.append, wait=refuse_it)


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({}, []),
        ({"everyone": "no"}, ["what the agent says is not saved. Sign in again"]),
        ({"namespace": "travel"}, []),
        ({"access": "read"}, ["nothing is saved"]),
    ],
    ids=["enough", "one-person", "another-namespace", "to-read"],
)
def test_what_was_not_allowed_and_will_be_missed_is_said_at_once(server, home, environment, chosen, told):
    sign_in(server, home, environment, **chosen)
    found = [str(one) for one in read_configuration(home, environment)[1]]
    assert len(found) == len(told)
    assert all(words in one for words, one in zip(told, found, strict=True))


def renew(home, ready):
    ready.wait(PATIENCE_SECONDS)
    works(home)


def test_twenty_processes_with_a_token_that_ran_out_renew_it_once_and_all_go_on(server, home, environment):
    before = sign_in(server, home, environment)
    expire(home)
    context = multiprocessing.get_context("fork")
    ready = context.Barrier(PROCESSES)
    processes = [context.Process(target=renew, args=(home, ready)) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(PATIENCE_SECONDS)
    assert [process.exitcode for process in processes] == [0] * PROCESSES
    first = OAuthGrant.of(read(home))
    assert first.refresh != OAuthGrant.of(before).refresh
    assert whoami(server, first.access).status_code == 200
    # Had anybody spent the token a second time, the grant would be dead.
    expire(home)
    works(home)
    assert OAuthGrant.of(read(home)).refresh != first.refresh


def die_after_renewing(home):
    def traded(grant, now):
        exchange(grant, now)
        os.kill(os.getpid(), signal.SIGKILL)

    upkeep = hermes_backends._upkeep(read(home))
    upkeep._exchange = traded
    upkeep.token()


def test_a_process_that_dies_with_the_new_token_in_its_hands_is_told_of(server, home, environment):
    sign_in(server, home, environment)
    expire(home)
    process = multiprocessing.get_context("fork").Process(target=die_after_renewing, args=(home,))
    process.start()
    process.join(PATIENCE_SECONDS)
    assert process.exitcode == -signal.SIGKILL

    with pytest.raises(SignInEnded, match="the server does not renew it any more"):
        works(home)
    profile = profile_at(home)
    shown = "\n".join(
        lines(report(HermesInstallation(home, profile), environment, home, hermes_backends.inspect))
    )
    assert "the server does not renew it any more; sign in again: souvenance login" in shown

    sign_in(server, home, environment)
    works(home)


def test_a_sign_in_that_was_withdrawn_at_the_server_says_to_sign_in_again(server, home, environment):
    kept = OAuthGrant.of(sign_in(server, home, environment))
    form = {"token": kept.refresh, "client_id": kept.client}
    told = httpx.post(f"{server.url}/oauth/revoke", data=form, trust_env=False, timeout=PATIENCE_SECONDS)
    told.raise_for_status()
    with pytest.raises(CapRevoked):
        works(home)
    expire(home)
    with pytest.raises(SignInEnded) as told:
        works(home)
    assert told.value.hint == "Sign in again: souvenance login."


def test_whoever_is_renewed_while_talking_notices_nothing(server, tmp_path, environment):
    stage = Stage(tmp_path, peerName="alice")
    (stage.home / "souvenance.json").unlink()
    sign_in(server, stage.home, {**stage.environment})
    expire(stage.home, seconds=121)
    runtimes = Runtimes()
    surroundings = Surroundings(
        home=lambda: stage.home,
        directory=lambda: stage.directory,
        configuration=stage.configuration,
        runtime=runtimes.get,
        state_files=hermes_backends.state_files_of,
    )
    provider, other = Provider(surroundings), Provider(surroundings)
    provider.initialize("s1", platform="cli", hermes_home=str(stage.home))
    other.initialize("s2", platform="cli", hermes_home=str(stage.home))
    first = OAuthGrant.of(read_configuration(stage.home, stage.environment)[0])
    runtime = runtimes.get(stage.configuration(stage.home, "default")[0])

    def kept():
        return OAuthGrant.of(read_configuration(stage.home, stage.environment)[0])

    provider.sync_turn("I am going to Chengdu on May 25.", "Have a good time.")
    assert runtime.flush(PATIENCE_SECONDS)
    assert eventually(lambda: stage.recall(other, "When do I go to Chengdu?") and kept() != first)
    provider.sync_turn("My sister Dora plays the viola.", "Nice.")
    assert runtime.flush(PATIENCE_SECONDS)
    assert kept().refresh != first.refresh
    assert runtimes.get(stage.configuration(stage.home, "default")[0]) is runtime
    runtimes.close()

    with stage.gate() as ask:
        asked = ListMessages(workspace_id="hermes", session_id="project", size=100)
        said = [(one.peer_id, one.content) for one in ask(LIST_MESSAGES, asked).items]
    assert [text for peer, text in said if peer == "alice"] == [
        "I am going to Chengdu on May 25.",
        "My sister Dora plays the viola.",
    ]


def test_whoever_signs_in_as_somebody_else_has_another_way(server, home, environment):
    runtimes = Runtimes()
    first = sign_in(server, home, environment)
    second = sign_in(server, home, environment, peer="bob")
    assert runtimes.get(first) is not runtimes.get(second)
    runtimes.close()


class Visitor(Person):
    """Somebody at the wizard who goes to the page that they are told, in a browser of their own."""

    def __init__(self, server, script="", *, decision="allow", **more):
        super().__init__(script, **more)
        self._server = server
        self._decision = decision

    def say(self, text=""):
        super().say(text)
        if text.startswith("  http"):
            went = (text.strip(), self._server.owner_cap, self._decision)
            threading.Thread(target=visit, args=went).start()


class TestWizard:
    def set_up(self, home, environment, person, **given):
        set_up(
            profile_at(home),
            person,
            environment={**environment, "USER": "root"},
            activate=lambda: choose_provider(profile_at(home).settings, "souvenance"),
            given=WizardAnswers(**given) if given else None,
            sign_in=signin.sign_in,
        )
        return read(home)

    def test_the_name_of_the_consent_is_proposed(self, server, home, environment):
        person = Visitor(server, f"Answer=2|1; Its URL={server.url}")
        after = self.set_up(home, environment, person)
        assert any("Your name [alice]" in one for one in person.asked)
        assert (after.url, after.peer_name, after.workspace) == (server.url, "alice", "hermes")
        assert OAuthGrant.of(after).refresh.startswith("hch-rt-")
        assert after.api_key not in person.told
        works(home)

    def test_whoever_leaves_afterwards_is_signed_in_and_told_so(self, server, home, environment):
        person = Visitor(server, f"Answer=2|1; Its URL={server.url}; Your name={LEAVES}")
        with pytest.raises(Abandoned):
            self.set_up(home, environment, person)
        assert person.told.endswith("You are signed in. Nothing else was changed.")
        works(home)

    def test_whoever_is_refused_is_asked_again(self, server, home, environment):
        script = f"Answer=2|1|3; Its URL={server.url}; Its key={server.owner_cap}"
        person = Visitor(server, script, decision="deny")
        after = self.set_up(home, environment, person)
        assert "sign_in_denied" in person.told
        assert (after.api_key, after.oauth) == (server.owner_cap, None)

    def test_what_is_given_is_not_asked(self, server, home, environment):
        class Silent(Visitor, Nobody):
            interactive = False

        after = self.set_up(home, environment, Silent(server), url=server.url, sign_in="browser")
        assert OAuthGrant.of(after) is not None

    def test_a_sign_in_that_is_left_for_a_key_is_taken_back(self, server, home, environment):
        before = sign_in(server, home, environment)
        key = server.owner_cap
        after = self.set_up(home, environment, Nobody(), url=server.url, api_key=key)
        assert (after.api_key, after.oauth) == (key, None)
        assert whoami(server, before.api_key).json()["error"] == "cap_revoked"

    def test_enter_keeps_the_sign_in_that_there_is(self, server, home, environment):
        before = sign_in(server, home, environment)
        person = Visitor(server)
        after = self.set_up(home, environment, person)
        assert "There is a sign-in already" in person.told
        assert OAuthGrant.of(after) == OAuthGrant.of(before)


class TestDesktop:
    @pytest.fixture(autouse=True)
    def configured(self, server, home, environment):
        write_setting(home, "hermes", {"baseUrl": server.url}, root=True, environment=environment)

    def test_it_is_begun_looked_at_and_undone(self, server, home, environment):
        assert desktop.status(home) == {
            "state": "idle",
            "detail": "",
            "connected": False,
            "auth": None,
            "url": "",
        }
        pages = []
        told = desktop.start(home, pages.append)
        assert (told["state"], told["connected"]) == ("pending", False)
        assert eventually(lambda: desktop.status(home)["url"])
        again = desktop.start(home, pages.append)
        assert (again["state"], again["url"]) == ("pending", pages[0])
        assert "source=hermes-desktop" in pages[0]
        visit(pages[0], server.owner_cap)
        assert eventually(lambda: desktop.status(home)["state"] == "connected")
        assert len(pages) == 1
        assert {**desktop.status(home), "detail": ""} == {
            "state": "connected",
            "detail": "",
            "connected": True,
            "auth": "oauth",
            "url": "",
        }
        assert read(home).peer_name == "alice"
        token = read(home).api_key
        desktop.sign_out(home, environment)
        told = desktop.status(home)
        assert (told["state"], told["connected"], told["auth"]) == ("idle", False, None)
        assert whoami(server, token).status_code == 401

    def test_each_profile_has_its_own(self, server, home, environment):
        other = home / "profiles" / "coder"
        other.mkdir(parents=True)
        ours, theirs = [], []
        desktop.start(home, ours.append)
        assert desktop.status(other)["state"] == "idle"
        desktop.start(other, theirs.append)
        assert eventually(lambda: ours and theirs)
        visit(theirs[0], server.owner_cap, peer="cody")
        assert eventually(lambda: desktop.status(other)["state"] == "connected")
        assert desktop.status(home)["state"] == "pending"
        assert read_configuration(other, environment)[0].peer_name == "cody"
        assert read(home).oauth is None

    def test_a_no_is_an_error_that_a_new_try_clears(self, server, home):
        pages = []
        desktop.start(home, pages.append)
        assert eventually(lambda: pages)
        visit(pages[0], server.owner_cap, "deny")
        assert eventually(lambda: desktop.status(home)["state"] == "error")
        assert desktop.status(home)["detail"].startswith("sign_in_denied")
        assert desktop.start(home, pages.append)["state"] == "pending"

    def test_without_a_server_there_is_nothing_to_connect_to(self, home, environment):
        write_setting(home, "hermes", {"baseUrl": None}, root=True, environment=environment)
        told = desktop.start(home, print)
        assert (told["state"], "where nobody signs in" in told["detail"]) == ("error", True)


def test_a_token_that_the_server_ended_is_refused_there_too(server, home, environment):
    kept = OAuthGrant.of(sign_in(server, home, environment))
    fresh = exchange(kept, int(time.time()))
    with pytest.raises(SignInEnded):
        exchange(kept, int(time.time()))
    assert whoami(server, fresh.access).status_code == 401
    assert issubclass(SignInEnded, Unauthenticated)


def test_a_sign_in_that_stands_for_all_hosts_is_renewed_for_all(server, home, environment):
    kept = OAuthGrant.of(sign_in(server, home, environment))
    document = {"baseUrl": server.url, "workspace": "hermes", **kept.settings()}
    (home / "souvenance.json").write_text(json.dumps(document))
    (home / "profiles" / "coder").mkdir(parents=True)
    for own in (home, home / "profiles" / "coder"):
        values = json.loads((home / "souvenance.json").read_text())
        values["oauth"]["expiresAt"] = int(time.time())
        (home / "souvenance.json").write_text(json.dumps(values))
        found, _ = read_configuration(own, environment)
        assert whoami(server, hermes_backends._upkeep(found).token()).status_code == 200
    assert "hosts" not in json.loads((home / "souvenance.json").read_text())
