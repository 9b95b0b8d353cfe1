"""Many profiles in one process: each has its own memory, secrets and model cost, on whichever thread."""

import builtins
import io
import json
import os
import threading
from types import SimpleNamespace

import pytest

from hermes.honcho_fake import eventually
from hermes.host_fake import SharedHost
from hermes.stage import PATIENCE_SECONDS
from souvenance import plugin
from souvenance.errors import StorageUnavailable
from souvenance.hermes.config_files import read_configuration
from souvenance.hermes.host import ENVIRONMENT, home_now
from souvenance.hermes.profile_runtime import QUIET_SECONDS
from souvenance.hermes.sign_in import profile as sign_in
from souvenance.hermes_dashboard import answered

PROFILES = 8


@pytest.fixture
def host(monkeypatch, tmp_path):
    made = SharedHost(tmp_path / "launched").offer(monkeypatch)
    monkeypatch.setenv("HONCHO_API_KEY", "key-of-the-launched")
    plugin._kind.cache_clear()
    yield made
    plugin.RUNTIMES.close()
    plugin._kind.cache_clear()


@pytest.fixture
def homes(tmp_path):
    return [profile(tmp_path / "profiles" / f"p{number}") for number in range(PROFILES)]


def profile(home, **settings):
    home.mkdir(parents=True)
    known = {"peerName": "ann", "recallWait": PATIENCE_SECONDS, "hostModel": True, **settings}
    (home / "souvenance.json").write_text(json.dumps(known))
    (home / "souvenance.json").chmod(0o600)
    return home


def a_provider(session):
    """As the host makes one: it says neither whose it is nor where, but by the context."""
    found = []
    plugin.register(SimpleNamespace(register_memory_provider=found.append))
    found[0].initialize(session, platform="cli")
    return found[0]


def all_at_once(host, homes, work):
    """What comes of the work for each profile, done in a turn of it while the others are at theirs."""
    done, start = {}, threading.Barrier(len(homes))

    def run(home):
        with host.turn(home, HONCHO_API_KEY=f"key-of-{home.name}"):
            start.wait()
            done[home.name] = work(home)

    threads = [threading.Thread(target=run, args=(home,)) for home in homes]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return done


def word(home):
    return f"Quagga{home.name}"


def tells(home):
    provider = a_provider("s1")
    provider.on_turn_start(1, f"I live in {word(home)}.")
    provider.prefetch(f"I live in {word(home)}.")
    provider.sync_turn(f"I live in {word(home)}.", "I see.", session_id="s1")
    provider.shutdown()
    return provider


def asks(home):
    provider = a_provider("s2")
    provider.on_turn_start(1, "Where do I live?")
    return provider.prefetch("Where do I live?"), provider.recall_status()


def runtimes():
    return [runtime for _, runtime in plugin.RUNTIMES._open.values()]


def test_eight_profiles_at_once_each_have_their_own_memory_and_say_how_much_was_recalled(host, homes):
    all_at_once(host, homes, tells)
    for runtime in runtimes():
        assert eventually(lambda runtime=runtime: runtime.flush(1), PATIENCE_SECONDS)
    told = all_at_once(host, homes, asks)
    for home in homes:
        text, status = told[home.name]
        assert [one.name for one in homes if word(one) in text] == [home.name]
        assert (status.provider_label, status.count) == ("Souvenance", text.count("\n- "))
    assert len(runtimes()) == PROFILES
    assert not host.launched.exists(), "nothing was done for the profile that the process was launched with"
    assert host.bound


class StoreIsGone:
    """A backend, but that its store can't be opened any more."""

    def __init__(self, backend):
        self._backend = backend

    def __getattr__(self, name):
        return getattr(self._backend, name)

    def settle(self, seconds):
        raise StorageUnavailable("the store can't be opened")


def test_a_profile_whose_store_is_gone_keeps_no_other_from_being_closed(host, homes):
    all_at_once(host, homes[:3], tells)
    every = runtimes()
    for runtime in every:
        assert eventually(lambda runtime=runtime: runtime.flush(1), PATIENCE_SECONDS)
    every[0]._backend = StoreIsGone(every[0]._backend)
    plugin.RUNTIMES.close()
    assert [runtime._backend for runtime in every] == [None] * 3


def test_eight_profiles_at_once_each_pay_for_their_own_model(host, homes):
    providers = all_at_once(host, homes, tells)
    for runtime in runtimes():
        now = runtime.turns._now
        runtime.turns._now = lambda now=now: now() + QUIET_SECONDS
    for provider in providers.values():
        provider.on_session_end([])
    assert eventually(lambda: len({call.pays for call in host.calls}) == PROFILES, PATIENCE_SECONDS)
    by_name = {home.name: home for home in homes}
    for call in host.calls:
        assert call.home == by_name[call.pays]
        assert [one.name for one in homes if word(one) in call.text] == [call.pays]


def test_eight_profiles_at_once_each_have_their_own_key_and_a_bare_thread_has_none(host, tmp_path):
    homes = [profile(tmp_path / f"p{number}", baseUrl="https://memory.example") for number in range(PROFILES)]

    def key(home):
        return read_configuration(home_now(), ENVIRONMENT)[0].api_key

    assert all_at_once(host, homes, key) == {home.name: f"key-of-{home.name}" for home in homes}
    found = []
    with host.turn(homes[0], HONCHO_API_KEY="key"):
        bare = threading.Thread(target=lambda: found.append((home_now(), key(homes[0]))))
        bare.start()
        bare.join()
    assert found == [(host.launched, None)]


def test_eight_profiles_at_once_are_each_warned_once(host, homes, caplog):
    def of_nobody(home):
        for session in ("s1", "s2"):
            found = []
            plugin.register(SimpleNamespace(register_memory_provider=found.append))
            found[0].initialize(session, platform="api_server")

    all_at_once(host, homes, of_nobody)
    assert caplog.text.count("somebody is not named by the host") == PROFILES


def test_what_the_launched_profile_has_in_its_environment_decides_nothing_of_another_s_sign_in(
    host, homes, tmp_path, monkeypatch
):
    monkeypatch.setenv("HONCHO_BASE_URL", "http://127.0.0.1:9")
    with host.turn(homes[0]):
        assert "on this machine" in sign_in.start(homes[0])["detail"]
    served = profile(tmp_path / "served", baseUrl="https://memory.example")
    for own, auth in (({}, None), ({"HONCHO_API_KEY": "its-own"}, "apikey")):
        with host.turn(served, **own):
            assert sign_in.status(served)["auth"] == auth


def test_a_dashboard_opens_the_store_of_the_profile_and_not_that_of_the_launched_one(
    host, homes, monkeypatch
):
    all_at_once(host, homes[:1], tells)
    plugin.RUNTIMES.close()
    monkeypatch.setenv("SOUVENANCE_STORE", "postgresql://launched@127.0.0.1:1/none")
    with host.turn(homes[0]):
        status, page = answered("recall", {"message": "Where do I live?"})
    assert status == 200 and word(homes[0]) in page["text"]
    with host.turn(homes[0], SOUVENANCE_STORE="postgresql://own@127.0.0.1:1/none"):
        assert answered("recall", {"message": "Where do I live?"})[0] != 200


def test_a_home_has_one_sign_in_however_its_path_is_spelled(host, homes, tmp_path):
    (tmp_path / "linked").symlink_to(homes[0])
    assert sign_in.start(tmp_path / "linked")["state"] == "error"
    assert sign_in.status(homes[0])["state"] == "error"
    assert sign_in.status(homes[1])["state"] == "idle"


def test_a_home_is_one_profile_however_its_path_is_spelled(host, homes, tmp_path):
    (tmp_path / "linked").symlink_to(homes[0])
    for home in (homes[0], tmp_path / "linked"):
        with host.turn(home):
            a_provider("s1")
    assert len(runtimes()) == 1


def test_work_in_the_pool_has_the_context_of_who_gave_it_not_of_who_began_the_thread(host, homes):
    found = all_at_once(host, homes, lambda home: runtime_now()._tool_calls.give(home_now).result(5))
    assert found == {home.name: home for home in homes}
    with host.turn(homes[0]):
        pool = runtime_now()._tool_calls
        assert pool.give(home_now).result(5) == homes[0]
    with host.turn(homes[1]):
        assert pool.give(home_now).result(5) == homes[1]


def runtime_now():
    return plugin.RUNTIMES.get(read_configuration(home_now(), ENVIRONMENT)[0])


@pytest.fixture
def opened(monkeypatch):
    """The files that are opened."""
    found = []

    def watched(plain):
        def opens(path, *args, **kwargs):
            found.append(str(path))
            return plain(path, *args, **kwargs)

        return opens

    for module in (os, io, builtins):
        monkeypatch.setattr(module, "open", watched(module.open))
    return found


def test_a_signature_reads_no_file_while_nothing_is_changed(host, homes, opened):
    """A gateway asks for it with every message, of a provider that is made for that."""

    def signature():
        found = []
        plugin.register(SimpleNamespace(register_memory_provider=found.append))
        return found[0].identity_signature()

    signatures = {}
    for home in homes[:2]:
        with host.turn(home):
            signatures[home] = signature()
    assert opened
    opened.clear()
    for home in (*homes[:2], *homes[:2]):
        with host.turn(home):
            assert signature() == signatures[home]
    assert opened == []
    file = homes[0] / "souvenance.json"
    before = file.stat()
    file.write_text(file.read_text().replace('"ann"', '"zoe"'))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    (homes[1] / "souvenance").mkdir()
    (homes[1] / "souvenance" / "config.json").write_text('{"recallMode": "tools"}')
    opened.clear()
    for home in homes[:2]:
        with host.turn(home):
            assert signature() != signatures[home]
    assert {str(file), str(homes[1] / "souvenance.json")} <= {*opened}


def test_a_change_of_who_one_is_makes_agents_anew_and_costs_nothing_else(host, homes):
    def signature():
        found = []
        plugin.register(SimpleNamespace(register_memory_provider=found.append))
        return found[0].identity_signature()

    with host.turn(homes[0]):
        before = signature()
        assert before == signature()
    with host.turn(homes[1]):
        assert signature() != before
    with host.turn(homes[0], HONCHO_API_KEY="renewed"):
        assert signature() == before
        (homes[0] / "souvenance.json").write_text(json.dumps({"peerName": "zoe"}))
        assert signature() != before
    assert not runtimes(), "nothing was opened for it"
