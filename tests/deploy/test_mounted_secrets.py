"""Files of secrets as Kubernetes, Docker and systemd mount them: root's, and readable by the user's group."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from surfaces.door import souvenance

USER = 10001


@pytest.fixture
def mounted():
    """A folder such as Kubernetes makes of a Secret for a pod of the group USER."""
    with TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "home").mkdir()
        os.chown(folder / "home", USER, USER)
        (folder / "..data").mkdir()
        secret = folder / "..data/key"
        secret.write_text("sesame")
        os.chown(secret, 0, USER)
        secret.chmod(0o440)
        (folder / "key").symlink_to("..data/key")
        yield folder


def checked(folder, **more):
    settings = {"SOUVENANCE_WEBHOOK_SECRET": f"@{folder}/key"}
    return souvenance("config", "check", home=folder / "home", user=USER, settings=settings, **more)


def test_a_link_of_root_s_to_a_file_that_only_our_group_may_read_is_a_secret(mounted):
    assert checked(mounted).out.startswith("ok: ")


@pytest.mark.parametrize("mode", [0o444, 0o460, 0o644])
def test_one_that_others_may_read_or_change_is_not(mounted, mode):
    (mounted / "..data/key").chmod(mode)
    assert "is open to other users" in checked(mounted, exit_code=11).err


def test_a_link_of_somebody_else_s_is_not_followed(mounted):
    os.chown(mounted / "key", USER + 1, USER + 1, follow_symlinks=False)
    assert "can't be read" in checked(mounted, exit_code=11).err


def test_a_file_of_somebody_else_s_behind_root_s_link_is_not_taken_for_one_that_is_mounted(mounted):
    os.chown(mounted / "..data/key", USER + 1, USER)
    assert "is open to other users" in checked(mounted, exit_code=11).err
