"""What `make release` makes of a checkout, and what it refuses."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from environments import client_program

ROOT = Path(__file__).parents[2]
SBOM = "cyclonedx-bom-7.5.0"


def git(folder, *command):
    named = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *named, *command], cwd=folder, check=True, capture_output=True)


def release(checkout, key, into):
    program = [sys.executable, checkout / "deploy/release.py", key, "--into", into]
    return subprocess.run(program, capture_output=True, text=True)


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    path = tmp_path_factory.mktemp("key") / "release"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    return path


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "checkout"
    git(tmp_path, "clone", "--quiet", "--depth", "1", ROOT.as_uri(), folder)
    (folder / ".environments").mkdir()
    (folder / ".environments" / SBOM).symlink_to(client_program(SBOM).parents[1])
    return folder


def released(checkout, key, into):
    log = checkout / "CHANGELOG.md"
    log.write_text(log.read_text("utf-8").replace("## Unreleased", "## 0.1.0", 1), "utf-8")
    git(checkout, "commit", "--quiet", "--all", "--message", "Say what changed")
    return release(checkout, key, into)


def checked(folder):
    """Whether the commands of the page find nothing wrong with what is there."""
    page = (ROOT / "docs/reference/support.md").read_text("utf-8")
    [commands] = re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S)
    return subprocess.run(["bash", "-ec", commands], cwd=folder, capture_output=True).returncode == 0


def test_a_release_is_signed_and_the_same_again_and_nothing_is_published(checkout, key, tmp_path):
    into = tmp_path / "one"
    made = released(checkout, key, into)
    assert made.returncode == 0, made.stderr
    assert "Nothing is published" in made.stdout
    names = {path.name for path in into.iterdir()}
    assert names == {
        "souvenance-0.1.0-py3-none-any.whl",
        "souvenance-0.1.0.tar.gz",
        "souvenance-0.1.0.cdx.json",
        "SHA256SUMS",
        "SHA256SUMS.sig",
    }
    got = shutil.copytree(into, tmp_path / "got")
    (got / "signers").write_text(f"release {key.with_suffix('.pub').read_text()}")
    assert checked(got)
    sums = (got / "SHA256SUMS").read_bytes()
    (got / "SHA256SUMS").write_bytes(sums + b"\n")
    assert not checked(got), "that is not what was signed"
    (got / "SHA256SUMS").write_bytes(sums)
    (got / "souvenance-0.1.0.tar.gz").write_bytes(b"")
    assert not checked(got), "that is not what was built"
    parts = json.loads((into / "souvenance-0.1.0.cdx.json").read_bytes())["components"]
    assert {"cryptography", "starlette"} <= {part["name"] for part in parts}
    assert "souvenance/py.typed" in zipfile.ZipFile(into / "souvenance-0.1.0-py3-none-any.whl").namelist()
    again = release(checkout, key, tmp_path / "two")
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "two/SHA256SUMS").read_bytes() == sums


def test_nothing_is_made_of_a_checkout_that_is_not_ready(checkout, key, tmp_path):
    into = tmp_path / "into"
    assert "begins with 'Unreleased'" in release(checkout, key, into).stderr
    (checkout / "new.txt").write_text("")
    assert "new.txt" in release(checkout, key, into).stderr
    assert "There is no key" in release(checkout, tmp_path / "nokey", into).stderr
    assert not into.exists()
