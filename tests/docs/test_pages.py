import ast
import re

import pytest
from examples import ROOT

DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
THREATS = (ROOT / "docs/explanation/threat-model.md").read_text("utf-8")
PROMISES = dict(re.findall(r"^\*\*(G\d+)\. .*?\*\*(.*?)(?=^\*\*G|^## )", THREATS, re.M | re.S))


def anchors(text):
    """The anchors of a page's headings, as they are commonly made."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_the_page_leads_somewhere(page):
    prose = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)]+)\)", prose):
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.is_relative_to(ROOT) and found.exists(), target
        if anchor:
            assert anchor in anchors(found.read_text("utf-8")), target


def test_every_page_is_on_the_map():
    chart = (ROOT / "docs/README.md").read_text("utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = str(page.relative_to(ROOT / "docs"))
        assert name == "README.md" or f"({name})" in chart, name


def test_the_format_page_names_every_file_of_test_vectors():
    page = (ROOT / "docs/reference/format.md").read_text("utf-8")
    vectors = {path.name for path in (ROOT / "tests/domain/vectors").iterdir()}
    assert vectors
    assert set(re.findall(r"`([\w-]+\.json)`", page)) == vectors


def test_the_readme_is_one_screen():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 45


@pytest.mark.parametrize("page", sorted((ROOT / "docs/adr").glob("*.md")), ids=lambda page: page.name)
def test_a_decision_has_its_context_and_consequences_on_half_a_page(page):
    text = page.read_text("utf-8")
    assert re.findall(r"^## (.*)$", text, re.M) == ["Context", "Decision", "Consequences"]
    assert text.startswith(f"# {page.name[:4]} ")
    assert len(text.split()) <= 360


def test_promises_are_numbered_without_a_gap():
    assert list(PROMISES) == [f"G{number}" for number in range(1, len(PROMISES) + 1)]
    assert f"(G1 to G{len(PROMISES)})" in (ROOT / "SECURITY.md").read_text("utf-8")


@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_names_tests_that_exist(promise):
    named = re.findall(r"`(tests/[\w/]+\.py)::([\w:]+)`", PROMISES[promise])
    assert named
    for path, name in named:
        assert name in functions(ROOT / path), f"{path}::{name}"


def functions(path):
    """The names of the tests in a file, those in classes as Class::name."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
    return found
