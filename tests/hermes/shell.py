"""A Hermes home, and our commands run in it."""

from __future__ import annotations

import os

from souvenance import hermes_backends
from souvenance.hermes.config_files import read_configuration
from souvenance.hermes.setup.commands import hermes_group
from souvenance.surfaces.cli.main import ended

KEY = "hch-v3-0123456789-SECRET"


def a_home(tmp_path, monkeypatch):
    """A Hermes home with a profile `coder`, and a directory of ours to be in."""
    folder = tmp_path / ".hermes"
    (folder / "profiles" / "coder").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    for name in [name for name in os.environ if name.startswith(("HONCHO", "HERMES", "SOUVENANCE"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HERMES_HOME", str(folder))
    monkeypatch.setenv("USER", "ann")
    return folder


def a_shell(capsys):
    """Runs a command, holds it to its exit code, and says what it printed."""

    def told(*arguments, exit_code=0, inspect=None):
        code = ended(
            hermes_group(inspect, hermes_backends.carry, hermes_backends.inspector),
            arguments,
            "souvenance hermes",
        )
        printed = capsys.readouterr()
        assert code == exit_code, (printed.out, printed.err)
        return printed.out if exit_code == 0 else printed.err

    return told


def configuration_in(home, profile="default"):
    folder = home if profile == "default" else home / "profiles" / profile
    return read_configuration(folder, os.environ, profile)[0]


def files_in(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
