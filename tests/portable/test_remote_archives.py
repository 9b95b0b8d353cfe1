"""Bringing a workspace in through a server."""

from __future__ import annotations

from conversation.world import speaking
from processes import until
from souvenance.adapters.archive_file import Archives
from surfaces.door import serving, souvenance


def members(path):
    """What is in an archive, by name."""
    return {name: b"".join(held) for name, held in Archives().reading(path).members()}


def test_a_workspace_comes_in_through_a_server(tmp_path):
    here, there, path = tmp_path / "here", tmp_path / "there", tmp_path / "w.souvenance"
    with serving(here) as server, speaking(server, "w") as speaker:
        speaker.say("talk", *[f"I like place number {number}." for number in range(90)])
        speaker.say("talk", "ü" * 20_000)
        until(speaker.is_served)
        souvenance("export", str(path), "--workspace", "w", home=here)
    with serving(there) as server:
        url = ("--url", server.url)
        told = souvenance("import", str(path), "--json", *url, home=there).json()
        assert told["complete"]
        again = souvenance("import", str(path), "--json", *url, home=there).json()
        assert (again["new"], again["same"]) == (0, told["new"])
        souvenance("export", str(tmp_path / "again"), "--workspace", "w", home=there)
        refused = souvenance("backup", str(tmp_path / "b"), *url, home=there, exit_code=12)
        assert "where the store is" in refused.err
    assert members(tmp_path / "again") == members(path)
