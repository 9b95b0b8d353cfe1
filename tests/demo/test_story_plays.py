import re
import socket

import pytest

from story import STEPS


def test_in_an_environment_of_foreign_settings_alone_every_step_is_ok_and_nothing_is_left(
    run_quick_story, temporary, tmp_path
):
    ended = run_quick_story(
        SOUVENANCE_HOME=str(tmp_path / "mine"),
        SOUVENANCE_URL="http://127.0.0.1:9",
        SOUVENANCE_CAP="not-a-cap",
        SOUVENANCE_LINE_BYTES="1",
        SOUVENANCE_NO_SUCH_SETTING="1",
        HTTP_PROXY="http://127.0.0.1:9",
        http_proxy="http://127.0.0.1:9",
    )
    *steps, closing = ended.stdout.splitlines()
    assert [line.split()[:2] for line in steps] == [["ok", step.id] for step in STEPS], ended.stdout
    assert closing == f"{len(STEPS)} ok, 0 skipped, 0 failed"
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "mine").exists()
    port = int(re.search(r"http://127\.0\.0\.1:(\d+)", steps[0])[1])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=10)
