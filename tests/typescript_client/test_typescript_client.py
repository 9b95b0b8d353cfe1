"""The TypeScript client against a server: built by its compiler, and run by Node."""

from __future__ import annotations

import json
import re
from pathlib import Path
from socket import create_server

import pytest

from surfaces.door import serving
from typescript_client.api_types import CLIENT, RENEW, ROOT, TYPES, api_types
from typescript_client.programs import built, finished, started

HERE = Path(__file__).parent
PAGES = {"page": ROOT / "docs/howto/use-from-typescript.md", "readme": CLIENT / "README.md"}
OWN = ("scenarios.ts", "wrong_arguments.ts", "process.d.ts")
MOST = ["put", "get", "list", "snapshot", "invalidate", "forget", "grant"]


def example(page: Path) -> str:
    """The blocks of a page, as one program."""
    return "".join(re.findall(r"^```ts\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S))


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    sources = {name: (HERE / name).read_text("utf-8") for name in OWN}
    sources |= {f"{name}.ts": example(page) for name, page in PAGES.items()}
    return built(tmp_path_factory.mktemp("programs"), sources)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("served") / "home") as server:
        yield server


@pytest.fixture(scope="module")
def told(programs, tmp_path_factory):
    """What came of each scenario."""
    home = tmp_path_factory.mktemp("stopped") / "home"
    with serving(home) as server, create_server(("127.0.0.1", 0)) as silent:
        token = server.mint("me", MOST, peers=["*"])
        narrow = server.mint("me", ["get", "list"], ["travel"])
        silent_url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        process = started(programs / "scenarios.js", server.url, token, narrow, silent_url)
        assert process.stdout.readline() == "Stop the server now.\n", finished(process)
        server.stop()
        return json.loads(finished(process, "It is stopped.\n"))


@pytest.mark.parametrize("name", PAGES)
def test_an_example_prints_what_its_comments_say(name, programs, server):
    page = example(PAGES[name])
    programs.joinpath(f"{name}.js").write_text(
        programs.joinpath(f"{name}.js").read_text("utf-8").replace("http://127.0.0.1:8787", server.url)
    )
    token = server.mint(name, MOST, peers=["*"])
    printed = finished(started(programs / f"{name}.js", SOUVENANCE_CAP=token))
    assert printed.splitlines() == re.findall(r"console\.log\(.*\); // (.*)$", page, re.M)


def test_the_types_are_those_of_the_servers_openapi_description(server, tmp_path):
    assert TYPES.read_text("utf-8") == api_types(server.openapi, tmp_path), f"Run: {RENEW}"


def test_the_readme_begins_with_an_example_of_five_lines():
    assert len(example(PAGES["readme"]).strip().splitlines()) == 5


def test_the_package_depends_on_nothing_when_it_runs():
    package = json.loads((CLIENT / "package.json").read_text("utf-8"))
    assert "dependencies" not in package
    assert package["private"]


def test_dummy(told):
    print(json.dumps(told, indent=1))
