"""`souvenance service`: a unit of the person's own, told to systemd as its own tools have it."""

from __future__ import annotations

import os
import plistlib
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from processes import PATIENCE_SECONDS
from souvenance.surfaces.cli.service import launchd, systemd
from surfaces.door import souvenance

RECORDER = """#!/bin/sh
echo "systemctl $*" >> "$HOME/told"
test "$*" != "--user $(cat "$HOME/refused" 2>/dev/null)"
"""


@pytest.fixture
def person(tmp_path):
    """A home with a systemctl that notes what it is told, and fails as the file `refused` says."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/systemctl"
    program.write_text(RECORDER)
    program.chmod(0o755)
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    return {"HOME": str(tmp_path), "PATH": path, "XDG_CONFIG_HOME": str(tmp_path / "config")}


def unit_of(person):
    return Path(person["XDG_CONFIG_HOME"]) / "systemd/user/souvenance.service"


def told(person):
    return (Path(person["HOME"]) / "told").read_text().splitlines()


def test_it_is_installed_seen_and_removed(home, person):
    assert souvenance("service", "status", home=home, settings=person).out == "not installed\n"
    souvenance("service", "install", "--port", "9000", home=home, settings=person)
    assert told(person) == [
        "systemctl --user daemon-reload",
        "systemctl --user enable souvenance.service",
        "systemctl --user restart souvenance.service",
    ]
    text = unit_of(person).read_text()
    started = next(line for line in text.splitlines() if line.startswith("ExecStart="))
    words = shlex.split(started.removeprefix("ExecStart="))
    assert words == [sys.executable, "-m", "souvenance", "serve", "--port", "9000"]
    assert f'Environment="SOUVENANCE_HOME={home}"' in text
    state = souvenance("service", "status", "--json", home=home, settings=person).json()
    assert state == {"file": str(unit_of(person)), "installed": True, "runs": True}
    souvenance("service", "uninstall", home=home, settings=person)
    assert told(person)[-1] == "systemctl --user disable --now souvenance.service"
    assert not unit_of(person).exists()
    assert not home.exists()


def test_what_systemd_refuses_is_told_and_a_stopped_service_is_called_so(home, person):
    refused = Path(person["HOME"]) / "refused"
    refused.write_text("restart souvenance.service")
    failed = souvenance("service", "install", home=home, settings=person, exit_code=11)
    assert "restart souvenance.service failed" in failed.err and "--no-start" in failed.err
    refused.write_text("is-active --quiet souvenance.service")
    assert souvenance("service", "status", home=home, settings=person).out.startswith("stopped: ")


def test_without_starting_only_the_file_is_written_and_systemd_finds_nothing_wrong_with_it(home, person):
    odd = home.with_name('a home with "quotes", 100% $odd')
    souvenance("service", "install", "--no-start", "--home", str(odd), home=home, settings=person)
    assert not (Path(person["HOME"]) / "told").exists()
    ran = subprocess.run(
        ["systemd-analyze", "--user", "verify", unit_of(person)],
        env={**os.environ, "XDG_RUNTIME_DIR": person["HOME"]},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_where_there_is_no_systemd_that_is_said(home, person):
    failed = souvenance(
        "service", "install", home=home, settings={**person, "PATH": person["HOME"]}, exit_code=12
    )
    assert "there is no systemctl on this machine" in failed.err


def test_variables_that_the_service_will_not_have_are_named(home, person):
    told_so = souvenance("service", "install", home=home, settings={**person, "SOUVENANCE_INDEX_MB": "64"})
    assert "SOUVENANCE_INDEX_MB" in told_so.err and "souvenance.toml" in told_so.err


def test_launchd_gets_the_same_as_an_agent_of_its_own(tmp_path):
    command, environment = ["/a b/souvenance", "serve"], {"SOUVENANCE_HOME": "/h"}
    agent = plistlib.loads(launchd(tmp_path, command, environment).content)
    assert (agent["ProgramArguments"], agent["EnvironmentVariables"]) == (command, environment)
    assert agent["RunAtLoad"] and agent["KeepAlive"] == {"SuccessfulExit": False}
    manager = launchd(tmp_path, command, environment)
    assert manager.file.name == f"{agent['Label']}.plist"
    assert manager.start[-1][-1] == str(manager.file)
    assert systemd(tmp_path, command, environment).content.count(b'"/a b/souvenance" "serve"') == 1
