"""A sign-in is renewed before it ends, and its refresh token is spent once."""

import multiprocessing
from pathlib import Path

import pytest
from msgspec.structs import replace

from hermes.scene import configured
from mnemon.errors import ServerUnreachable
from mnemon.hermes.files import read_configuration, write_setting
from mnemon.hermes.oauth import Grant, Upkeep

NOW = 1_000_000


def grant(n, expires_at=NOW):
    return Grant(f"hch-at-{n}", f"hch-rt-{n}", expires_at, "hermes-agent", "http://127.0.0.1:9/oauth/token")


class Office:
    """A token endpoint, and the file that a profile keeps its sign-in in."""

    def __init__(self, kept):
        self.kept = kept
        self.spent = []
        self.down = False

    def exchange(self, old, now):
        if self.down:
            raise ServerUnreachable("no answer")
        self.spent.append(old.refresh)
        return grant(len(self.spent) + 1, now + 3600)

    def upkeep(self, now=NOW):
        told = self.kept.settings()
        return Upkeep(
            configured(api_key=told["apiKey"], oauth=told["oauth"]),
            now=lambda: now * 1000,
            read=lambda: configured(api_key=self.kept.access, oauth=self.kept.settings()["oauth"]),
            write=self.write,
            exchange=self.exchange,
        )

    def write(self, settings):
        self.kept = Grant.of(configured(api_key=settings["apiKey"], oauth=settings["oauth"]))


def test_a_token_that_holds_is_used_as_it_is():
    office = Office(grant(1, NOW + 121))
    assert office.upkeep().token() == "hch-at-1"
    assert office.spent == []


def test_a_token_that_ends_within_two_minutes_is_renewed_and_kept():
    office = Office(grant(1, NOW + 120))
    upkeep = office.upkeep()
    assert [upkeep.token(), upkeep.token()] == ["hch-at-2", "hch-at-2"]
    assert office.spent == ["hch-rt-1"]
    assert office.kept == grant(2, NOW + 3600)


def test_what_another_process_renewed_is_taken_over():
    office = Office(grant(1))
    upkeep = office.upkeep()
    office.kept = grant(7, NOW + 3600)
    assert upkeep.token() == "hch-at-7"
    assert office.spent == []


def test_where_it_can_t_be_renewed_the_old_token_is_shown_and_a_warning_told(caplog):
    office = Office(grant(1))
    office.down = True
    assert office.upkeep().token() == "hch-at-1"
    assert "could not be renewed" in caplog.text


@pytest.mark.parametrize("spoiled", [{}, {"refreshToken": "r"}, {"refreshToken": "r", "clientId": "c"}])
def test_without_what_it_takes_the_key_is_shown_as_it_is(spoiled):
    assert Grant.of(configured(api_key="k", oauth=spoiled)) is None


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
    )
    ready.wait()
    assert upkeep.token() == "hch-at-2"


def test_twenty_processes_on_one_sign_in_spend_its_refresh_token_once(tmp_path: Path):
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
