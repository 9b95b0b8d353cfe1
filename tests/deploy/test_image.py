"""The image: every step of the Dockerfile is run as it stands there, and what comes of it serves.

No container engine is needed: `image.py` says how the steps are run, and what stands for what.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
import subprocess
from importlib import metadata
from pathlib import Path

import pytest

from deploy.image import ROOT, Build, alone, instructions, pins
from processes import PATIENCE_SECONDS

DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
LOCK = ROOT / "deploy/requirements-image.lock"
MOST_MEGABYTES = 330
"""What the image adds to its base."""
LIFE = """
set -e
souvenance serve --host 0.0.0.0 --allow-remote >/tmp/out 2>&1 &
until sh -c "$HEALTH" 2>/tmp/ill; do kill -0 $!; done
souvenance put "The boiler is serviced in May." >/dev/null
souvenance get "When is the boiler serviced?"
for place in / /opt/souvenance /usr /etc; do touch $place/x 2>/dev/null && echo "wrote $place"; done
id -u; id -g
kill -TERM $!
wait $! && echo stopped
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    return Build(tmp_path_factory.mktemp("image")).run(DOCKERFILE)


def run(image, command, **more):
    asked = alone(image, command, user=image.user, writable=tuple(image.volumes), **more)
    return subprocess.run(asked, capture_output=True, text=True, timeout=2 * PATIENCE_SECONDS)


def test_it_serves_as_nobody_special_from_a_root_that_can_t_be_written(image):
    image.env["HEALTH"] = shlex.join(image.health)
    ran = run(image, ["sh", "-c", LIFE])
    assert "The boiler is serviced in May." in ran.stdout, (ran.stdout, ran.stderr)
    assert ran.stdout.splitlines()[-3:] == ["10001", "10001", "stopped"], ran.stderr
    assert "wrote" not in ran.stdout


def test_what_it_starts_is_the_server_and_its_command_can_be_another(image):
    assert [*image.entrypoint, *image.command[:1]] == ["souvenance", "serve"]
    ran = run(image, [*image.entrypoint, "--version"])
    assert ran.stdout.startswith("souvenance, version "), ran.stderr


def test_the_health_check_fails_where_nothing_serves(image):
    assert run(image, image.health).returncode != 0


def test_its_data_is_its_user_s_alone(image):
    [volume] = image.volumes
    found = (image.root / volume.lstrip("/")).stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (10001, 10001, 0o700)
    assert image.env["SOUVENANCE_HOME"] == volume and image.ports == ["8787"]


def test_nothing_that_builds_is_left_and_every_module_of_ours_is_compiled(image):
    [packages] = image.root.glob("opt/souvenance/lib/python3*/site-packages")
    assert not {"pip", "hatchling", "editables"} & set(os.listdir(packages))
    ours = list((packages / "souvenance").rglob("*.py"))
    assert len(ours) > 200
    assert all(list((path.parent / "__pycache__").glob(f"{path.stem}.*.pyc")) for path in ours)
    assert not (image.root / "build").exists()


def test_it_is_small():
    files = [path for name in pins(LOCK) for path in metadata.distribution(name).files or ()]
    sizes = {
        path: Path(str(path.locate())).stat().st_size for path in files if Path(str(path.locate())).exists()
    }
    ours = sum(path.stat().st_size for path in (ROOT / "src").rglob("*") if path.is_file())
    megabytes = (sum(sizes.values()) + ours) / 1e6
    print(f"{megabytes:.0f} MB")
    assert 50 < megabytes < MOST_MEGABYTES


def test_it_has_what_every_store_and_extra_of_a_server_needs():
    wanted = {"starlette", "onnxruntime", "mcp", "prometheus-client", "pyrage", "psycopg", "obstore"}
    assert wanted <= pins(LOCK).keys()


def test_its_versions_are_those_that_the_suite_runs():
    everything = re.findall(r"^[\w.-]+==[^\s;]+", (ROOT / "requirements.lock").read_text("utf-8"), re.M)
    ours = re.findall(r"^[\w.-]+==[^\s;]+", LOCK.read_text("utf-8"), re.M)
    assert set(ours) <= set(everything)


def test_its_python_is_the_one_that_every_run_of_the_suite_has():
    support = (ROOT / "docs/reference/support.md").read_text("utf-8")
    [version] = re.findall(r"^\| Python \| .* \| ([\d.]+) in every run", support, re.M)
    assert re.findall(r"^FROM python:([\d.]+)-", DOCKERFILE, re.M) == [version, version]


def test_an_instruction_that_nobody_knows_is_an_error(tmp_path):
    with pytest.raises(AttributeError):
        Build(tmp_path).run("FROM x\nSTOPSIGNAL SIGKILL\n")
    assert instructions("RUN a \\\n    && b\n# no\n\nUSER 1:1") == [("RUN", "a && b"), ("USER", "1:1")]
