"""Of a line that is over, nothing is left in any file once a worker ran."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from security.folder import Folder
from souvenance.config import Settings
from souvenance.installation import open_installation

SECRET = "The Quxabolinda vault opens with Vrathnikel"


def test_of_an_expired_line_no_envelope_and_no_token_is_left_in_any_file(home):
    folder, end = Folder(home), datetime.now(UTC) + timedelta(seconds=2)
    with folder.opened() as guest:
        guest.put("It stays")
        line = guest.put(SECRET, expires_at=end)
        needles = [
            line.encode(),
            *folder.column("SELECT sealed FROM lines WHERE id = ?", line),
            *folder.column("SELECT tokens FROM terms WHERE id = ?", line),
        ]
        assert all(folder.holding(needle) for needle in needles)
    installation = open_installation(Settings(home))
    try:
        work = installation.worker.work_once
        while work() or folder.column("SELECT id FROM lines WHERE expires_at IS NOT NULL"):
            pass
        left = folder.column("SELECT lines || detail FROM audit")
    finally:
        installation.close()
    sealed, *tokens = needles[1:]
    assert folder.holding(sealed) == []
    assert [folder.holding(token) for token in tokens] == [[] for _ in tokens]
    assert sum(line in one for one in left) == 2


def test_while_something_unknown_could_keep_it_nothing_is_removed_and_that_is_said_once(home):
    folder, end = Folder(home), datetime.now(UTC) + timedelta(seconds=1)
    with folder.opened() as guest:
        line = guest.put(SECRET, expires_at=end)
    with folder.raw() as database:
        database.execute("CREATE TABLE planted (a)")
    complaints, installation = [], open_installation(Settings(home))
    installation.worker._report = complaints.append
    try:
        while not complaints:
            installation.worker.tidy()
        for _ in range(3):
            assert not installation.worker.tidy()
    finally:
        installation.close()
    [said] = complaints
    assert "planted" in said
    assert folder.column("SELECT id FROM lines") == [line]
    with folder.opened() as guest:
        assert guest.texts("vault") == []
