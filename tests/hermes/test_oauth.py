"""A sign-in is renewed before it ends, its refresh token is spent once, and whatever goes wrong is said."""

import multiprocessing
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hermes.scene import configured
from souvenance.errors import ServerUnreachable, SignInEnded, StorageBusy, StorageFull
from souvenance.hermes.config_files import read_configuration, write_setting
from souvenance.hermes.oauth_tokens import OAuthGrant, Upkeep, alone

NOW = 1_000_000


def grant(n, expires_at=NOW, **more):
    return OAuthGrant(
        access=f"hch-at-{n}",
        refresh=f"hch-rt-{n}",
        expires_at=expires_at,
        client="hermes-agent",
        endpoint="http://127.0.0.1:9/oauth/token",
        since=NOW - 9000,
        **more,
    )


def holding(kept):
    told = kept.settings() if kept is not None else {"apiKey": None, "oauth": None}
    return configured(api_key=told["apiKey"], oauth=told["oauth"])


class Office:
    """A token endpoint, and the file that a profile keeps its sign-in in."""

    folder = None
    """Where the lock is."""

    def __init__(self, kept):
        self.kept = kept
        self.now = NOW
        self.spent = []
        self.written = []
        self.fails = None
        """What the exchange raises."""
        self.full = False

    def exchange(self, old, now):
        if self.fails is not None:
            raise self.fails
        if old.refresh in self.spent:
            raise SignInEnded("the server does not renew it any more")
        self.spent.append(old.refresh)
        fresh = grant(len(self.spent) + 1, now + 3600)
        return replace(fresh, since=old.since)

    def upkeep(self):
        return Upkeep(
            holding(self.kept),
            now=lambda: self.now * 1000,
            read=lambda: holding(self.kept),
            write=self.write,
            exchange=self.exchange,
            folder=self.folder,
        )

    def write(self, settings):
        if self.full:
            raise StorageFull("no space")
        self.kept = OAuthGrant.of(configured(api_key=settings["apiKey"], oauth=settings["oauth"]))
        self.written.append(self.kept)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(Office, "folder", tmp_path)


def warnings(caplog):
    return [one.getMessage() for one in caplog.records]


def test_a_token_that_holds_is_used_as_it_is():
    office = Office(grant(1, NOW + 121))
    assert office.upkeep().token() == "hch-at-1"
    assert office.spent == []


def test_its_end_is_remembered_and_not_read_again():
    office = Office(grant(1, NOW + 3600))
    upkeep = office.upkeep()
    office.kept = None
    assert upkeep.token() == "hch-at-1"


def test_a_token_that_ends_within_two_minutes_is_renewed_and_kept():
    office = Office(grant(1, NOW + 120))
    upkeep = office.upkeep()
    assert [upkeep.token(), upkeep.token()] == ["hch-at-2", "hch-at-2"]
    assert office.spent == ["hch-rt-1"]
    assert office.kept == grant(2, NOW + 3600)


def test_a_token_is_not_spent_where_what_it_buys_could_not_be_kept():
    office = Office(grant(1))
    office.full = True
    upkeep = office.upkeep()
    assert upkeep.token() == "hch-at-1"
    assert office.spent == []
    assert upkeep.trouble == "no space"


def test_what_was_bought_and_could_not_be_written_is_used():
    office = Office(grant(1))
    upkeep = office.upkeep()
    fresh = office.exchange

    def exchange(old, now):
        office.full = True
        return fresh(old, now)

    upkeep._exchange = exchange
    assert upkeep.token() == "hch-at-2"
    assert (office.spent, upkeep.trouble) == (["hch-rt-1"], "no space")


def test_what_another_process_renewed_is_taken_over():
    office = Office(grant(1))
    upkeep = office.upkeep()
    office.kept = grant(7, NOW + 3600)
    assert upkeep.token() == "hch-at-7"
    assert office.spent == []


def test_where_it_can_t_be_renewed_the_old_token_is_shown_and_one_warning_told(caplog):
    office = Office(grant(1, NOW + 100))
    office.fails = ServerUnreachable("no answer")
    upkeep = office.upkeep()
    for _ in range(3):
        assert upkeep.token() == "hch-at-1"
        office.now += 61
    assert warnings(caplog) == ["souvenance: the sign-in could not be renewed: no answer"]
    assert upkeep.trouble == "no answer"
    assert office.kept == grant(1, NOW + 100)


def test_between_two_tries_that_fail_there_is_a_pause():
    office = Office(grant(1))
    tries = []
    office.exchange = lambda old, now: tries.append(now) or office_down()

    def office_down():
        raise ServerUnreachable("no answer")

    upkeep = office.upkeep()
    for _ in range(121):
        upkeep.token()
        office.now += 1
    assert tries == [NOW, NOW + 60, NOW + 120]


def test_what_was_renewed_elsewhere_ends_the_pause():
    office = Office(grant(1))
    office.fails = ServerUnreachable("no answer")
    upkeep = office.upkeep()
    upkeep.token()
    office.kept = grant(7, NOW + 3600)
    assert (upkeep.token(), upkeep.trouble) == ("hch-at-7", "")


def test_a_sign_in_that_the_server_ended_says_to_sign_in_again(caplog):
    office = Office(grant(1, NOW + 60))
    office.spent.append("hch-rt-1")
    upkeep = office.upkeep()
    assert upkeep.token() == "hch-at-1"
    office.now += 60
    with pytest.raises(SignInEnded) as told:
        upkeep.token()
    assert told.value.hint == "Sign in again: souvenance login."
    assert len(warnings(caplog)) == 1
    assert warnings(caplog)[0].endswith("Sign in again: souvenance login")
    assert (office.kept.refresh, office.kept.ended) == ("", "the server does not renew it any more")


def test_a_sign_in_that_ended_is_not_tried_by_the_next_process():
    office = Office(grant(1, NOW))
    office.spent.append("hch-rt-1")
    for _ in range(2):
        with pytest.raises(SignInEnded):
            office.upkeep().token()
    office.fails = AssertionError()
    with pytest.raises(SignInEnded):
        office.upkeep().token()


def test_whoever_signs_in_again_goes_on_at_once():
    office = Office(grant(1))
    office.spent.append("hch-rt-1")
    upkeep = office.upkeep()
    with pytest.raises(SignInEnded):
        upkeep.token()
    office.kept = grant(9, NOW + 3600)
    assert upkeep.token() == "hch-at-9"


def test_whoever_signed_out_is_not_signed_in_by_a_renewal():
    office = Office(grant(1))
    upkeep = office.upkeep()
    office.kept = None
    with pytest.raises(SignInEnded, match="not in the configuration"):
        upkeep.token()
    assert (office.spent, office.written) == ([], [])


def test_nobody_waits_for_whoever_renews_a_token_that_still_holds():
    office = Office(grant(1, NOW + 60))
    begun, go_on = threading.Event(), threading.Event()
    fresh = office.exchange

    def exchange(old, now):
        begun.set()
        assert go_on.wait(60)
        return fresh(old, now)

    upkeep = office.upkeep()
    upkeep._exchange = exchange
    renewing = threading.Thread(target=upkeep.token)
    renewing.start()
    assert begun.wait(60)
    assert upkeep.token() == "hch-at-1"
    go_on.set()
    renewing.join()
    assert upkeep.token() == "hch-at-2"


def test_another_process_that_renews_is_no_trouble_while_the_token_holds(caplog):
    office = Office(grant(1, NOW + 60))
    upkeep = office.upkeep()
    with alone(office.folder):
        assert upkeep.token() == "hch-at-1"
    assert (upkeep.trouble, warnings(caplog)) == ("", [])
    assert upkeep.token() == "hch-at-2"


def test_a_process_that_never_lets_go_is_not_waited_for_forever(tmp_path):
    with alone(tmp_path), pytest.raises(StorageBusy), alone(tmp_path, 0.0):
        pass
    assert (tmp_path / ".souvenance-sign-in.lock").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "spoiled", [{}, {"refreshToken": "r"}, {"refreshToken": "r", "clientId": "c"}, {"expiresAt": "soon"}]
)
def test_without_what_it_takes_the_key_is_shown_as_it_is(spoiled):
    assert OAuthGrant.of(configured(api_key="k", oauth=spoiled)) is None


@given(st.dictionaries(st.text(max_size=20), st.one_of(st.none(), st.text(), st.floats(), st.integers())))
def test_whatever_a_configuration_holds_reading_it_never_fails(oauth):
    OAuthGrant.of(configured(api_key="k", oauth=oauth))


NAMES = st.text(st.characters(codec="ascii", min_codepoint=33), min_size=1, max_size=40)


@given(
    st.builds(
        OAuthGrant,
        access=NAMES,
        refresh=NAMES,
        expires_at=st.integers(0, 1 << 40),
        client=NAMES,
        endpoint=NAMES,
        revoke=st.one_of(st.just(""), NAMES),
        scope=NAMES,
        since=st.integers(0, 1 << 40),
    )
)
def test_what_is_kept_is_read_as_it_was(kept):
    assert OAuthGrant.of(holding(kept)) == kept


def renew(home, ready, spent):
    environment = {"HOME": str(home)}

    def exchange(old, now):
        spent.append(old.refresh)
        return replace(old, access="hch-at-2", refresh="hch-rt-2", expires_at=now + 3600)

    upkeep = Upkeep(
        read_configuration(home, environment)[0],
        now=lambda: NOW * 1000,
        read=lambda: read_configuration(home, environment)[0],
        write=lambda settings: write_setting(home, "hermes", settings, environment=environment),
        exchange=exchange,
        folder=home,
    )
    ready.wait()
    assert upkeep.token() == "hch-at-2"


def test_twenty_processes_on_one_sign_in_spend_its_refresh_token_once(tmp_path):
    write_setting(tmp_path, "hermes", grant(1).settings(), environment={"HOME": str(tmp_path)})
    context = multiprocessing.get_context("fork")
    with context.Manager() as manager:
        spent, ready = manager.list(), manager.Barrier(20)
        processes = [context.Process(target=renew, args=(tmp_path, ready, spent)) for _ in range(20)]
        for process in processes:
            process.start()
        for process in processes:
            process.join(60)
        assert [process.exitcode for process in processes] == [0] * 20
        assert list(spent) == ["hch-rt-1"]
