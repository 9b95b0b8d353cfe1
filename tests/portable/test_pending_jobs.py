"""Reasoning that was still to be done stays behind in an export, and the user is told."""

from __future__ import annotations

from portable.moments import mine
from souvenance.domain.directory import REASONING
from stores import settings_of
from surfaces.door import souvenance

SAID = ("I live in Bonn.", "I work as a baker.", "My sister is called Mia.")


def test_an_export_says_how_many_messages_were_still_to_be_reasoned_about(home, tmp_path):
    archive, other = tmp_path / "all.souvenance", tmp_path / "other"
    with mine(home, **settings_of(home)) as me:
        me.say(*SAID)
    told = souvenance("export", str(archive), home=home).out
    assert "3 messages still to be reasoned about" in told
    souvenance("import", str(archive), home=other)
    with mine(other, **settings_of(other)) as there, there.installation._store.read() as tx:
        assert tx.work.owed("default", REASONING, limit=100) == []
