"""What the processes of a profile tell each other in small files."""

import stat

import pytest

from souvenance.hermes.backend_health import BackendHealth
from souvenance.hermes.state_files import DELAY, StateFiles


def test_how_the_backend_does_is_told_to_another_process(tmp_path):
    StateFiles(tmp_path / "souvenance").note(BackendHealth(False, 3, "slow", 7))
    assert StateFiles(tmp_path / "souvenance").health() == BackendHealth(False, 3, "slow", 7)


def test_without_a_note_nothing_is_known_and_nothing_is_made(tmp_path):
    assert StateFiles(tmp_path / "souvenance").health() is None
    assert list(tmp_path.iterdir()) == []


def test_a_spoiled_note_is_as_none(tmp_path):
    (tmp_path / "health.json").write_bytes(b"{")
    assert StateFiles(tmp_path).health() is None


def test_the_notes_are_the_owners_alone(tmp_path):
    StateFiles(tmp_path / "souvenance").note(BackendHealth())
    assert stat.S_IMODE((tmp_path / "souvenance").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "souvenance" / "health.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("made_by", ["a title", "a transcript", "something done once"])
def test_whatever_makes_the_folder_first_it_is_the_owners_alone(tmp_path, made_by):
    state_files = StateFiles(tmp_path / "souvenance")
    match made_by:
        case "a title":
            state_files.keep_title("s1", "A title")
        case "a transcript":
            state_files.keep_transcript(state_files.transcript("s1").heard, "s1")
        case _:
            with state_files.once("files"):
                pass
    made = [tmp_path / "souvenance", *(tmp_path / "souvenance").rglob("*")]
    assert len(made) > 1
    assert not [path for path in made if path.stat().st_mode & 0o077]


def test_something_is_done_once(tmp_path):
    firsts = []
    for key in ("a", "a", "b", "a"):
        with StateFiles(tmp_path).once("files", key) as first:
            firsts.append(first)
    assert firsts == [True, False, True, False]
    assert StateFiles(tmp_path).was("files", "a")


def test_what_failed_on_the_way_is_not_done(tmp_path):
    with pytest.raises(OSError, match="full"), StateFiles(tmp_path).once("files"):
        raise OSError("full")
    with StateFiles(tmp_path).once("files") as first:
        assert first


def test_the_title_that_a_session_began_with_is_kept(tmp_path):
    state_files = StateFiles(tmp_path / "souvenance")
    assert state_files.title("s1") is None
    state_files.keep_title("s1", "")
    state_files.keep_title("s2", "A tour of Porto")
    assert (state_files.title("s1"), state_files.title("s2")) == ("", "A tour of Porto")


def test_why_a_write_waits_is_known_to_other_processes_until_it_does_not(tmp_path):
    StateFiles(tmp_path / "souvenance").note_trouble(DELAY, "namespace_denied: not yours")
    assert StateFiles(tmp_path / "souvenance").trouble(DELAY) == "namespace_denied: not yours"
    for _ in range(2):
        StateFiles(tmp_path / "souvenance").note_trouble(DELAY, "")
        assert StateFiles(tmp_path / "souvenance").trouble(DELAY) == ""
