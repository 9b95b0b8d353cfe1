"""The environment that Hermes and Mnemon share, and the host's own commands about its memory."""

from __future__ import annotations

import subprocess

import pytest

from environments import client_program
from hermes_host.host import a_host, reconfigure


def test_mnemon_and_hermes_agree_about_what_they_need():
    checked = subprocess.run(
        [client_program("hermes-0.19.0"), "-m", "pip", "check"], capture_output=True, text=True, timeout=60
    )
    assert checked.returncode == 0, checked.stdout


@pytest.fixture(scope="module")
def host(tmp_path_factory, model):
    folder = tmp_path_factory.mktemp("host")
    host = a_host(folder, model, {"store": str(folder / "user" / "memory")})
    host.once("My trip goes to Chengdu.")
    return host


def test_the_host_sees_the_provider_and_its_state(host):
    seen = host.run("memory", "status")
    assert seen.exit_code == 0
    assert "mnemon" in seen.out
    assert "available ✓" in seen.out
    status = host.run("mnemon", "status")
    assert status.exit_code == 0, status
    assert "outbox      0 waiting" in status.out


def test_a_home_restored_from_a_backup_remembers(host, model, folder):
    """Also where the store lies outside the host's home, but in the user's."""
    archive = host.user / "backup.zip"
    assert host.run("backup", "-o", str(archive)).exit_code == 0
    restored = a_host(folder, model)
    assert restored.run("import", "--force", str(archive)).exit_code == 0
    reconfigure(restored, store=str(restored.user / "memory"))
    restored.once("Where does my trip go?")
    *_, asked = model.turns()
    assert "Chengdu" in asked.memory
