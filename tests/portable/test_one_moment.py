"""An export is of one moment, whatever is written while it goes on."""

from __future__ import annotations

from contextlib import contextmanager

from portable.moments import check_one_moment, mine
from souvenance import open_installation
from souvenance.adapters.archive_file import Archives
from souvenance.commands import DataTransfers
from souvenance.domain.archive_records import LineRecord, decode
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.surfaces.cli.session import Shell
from souvenance.surfaces.cli.transfer import export_archive
from stores import settings_of

MANY = 250
"""Lines: more than one page of an export holds."""


def test_what_is_written_meanwhile_is_in_all_of_it_or_in_none(home):
    with mine(home, **settings_of(home)) as me, mine(home, **settings_of(home)) as other:
        check_one_moment(me, other)


class Interrupted(Archives):
    """Archives that have something happen when the first lines of one are about to be written."""

    def __init__(self, happen):
        self._happen = happen

    @contextmanager
    def writing(self, path, recipients=(), form=None):
        with super().writing(path, recipients) as archive:
            add = archive.add

            def late(name, content):
                self._happen()
                add(name, content)

            archive.add = late
            yield archive


def test_the_command_takes_one_moment_along(home, tmp_path, monkeypatch):
    settings = {"SOUVENANCE_EMBEDDER": "none", **settings_of(home)}
    with mine(home, **settings) as me:
        before = {me.call(o.PUT, m.Put(f"Line {number}.")).id for number in range(MANY)}
        me.say("I am Ann.")
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        shell = Shell(open_installation, DataTransfers(), str(home))
        try:
            export_archive(
                shell,
                tmp_path / "moment.souvenance",
                Interrupted(lambda: me.call(o.PUT, m.Put("Meanwhile."))),
            )
        finally:
            shell.close()
        assert "Meanwhile." in me.found("Meanwhile")
    lines = Archives().reading(tmp_path / "moment.souvenance").lines("lines")
    told = [record for record in map(decode, lines) if isinstance(record, LineRecord)]
    assert {record.id for record in told if record.turn is None} == before
