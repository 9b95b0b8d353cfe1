"""The site that `make docs` builds from docs/: complete, searchable from a file, and fetching nothing."""

import re
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import expect

from environments import client_program

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    mkdocs = client_program("mkdocs-material-9.8.1", "mkdocs")
    build = [mkdocs, "build", "--quiet", "-f", ROOT / "deploy/docs/mkdocs.yml", "-d", folder]
    subprocess.run(build, check=True, env={"NO_MKDOCS_2_WARNING": "1", "PATH": "/usr/bin:/bin"})
    return folder


def test_every_page_is_in_the_navigation_of_the_site(site):
    home = (site / "index.html").read_text("utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        made = page.relative_to(ROOT / "docs").with_suffix(".html")
        assert (site / made).exists() or made.name == "README.html", made
        assert f'href="{made}"' in home or made.name == "README.html", made


def test_no_page_fetches_anything_from_elsewhere(site):
    for page in site.rglob("*.html"):
        fetched = re.findall(
            r'<(?:script|img|iframe|link)[^>]*(?:src|href)="(\w+:)?//', page.read_text("utf-8")
        )
        assert not fetched, page


def test_it_is_searched_without_a_server(site, window):
    page = window()
    page.goto((site / "index.html").as_uri())
    page.get_by_placeholder("Search").fill("receipt")
    found = page.locator(".md-search-result__link").first
    expect(found).to_be_visible(timeout=30_000)  # The index of all pages is read first.
    found.click()
    expect(page.locator("article")).to_contain_text("receipt")
