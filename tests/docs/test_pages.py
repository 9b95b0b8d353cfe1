import ast
import re

import pytest
from examples import ROOT, documents

DOCUMENTS = documents()
THREATS = (ROOT / "docs/explanation/threat-model.md").read_text("utf-8")
FINDINGS = (ROOT / "tests/security/findings.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", THREATS, re.M | re.S))
PROMISES, LIMITS = "Promises", ("What is not sealed", "What each attacker can still do")


def rows(section):
    """The rows of a section's table, each as its cells."""
    lines = [line for line in SECTIONS[section].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


SENTENCES = [(section, *row) for section in (PROMISES, *LIMITS) for row in rows(section)]


def anchors(text):
    """The anchors of a page's headings, as they are commonly made."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_of_a_page_leads_somewhere():
    for page in DOCUMENTS:
        prose = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)]+)\)", prose):
            path, _, anchor = target.partition("#")
            found = (page.parent / path).resolve() if path else page
            assert found.is_relative_to(ROOT) and found.exists(), (page, target)
            if anchor:
                assert anchor in anchors(found.read_text("utf-8")), (page, target)


def test_every_page_is_on_the_map():
    chart = (ROOT / "docs/README.md").read_text("utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = str(page.relative_to(ROOT / "docs"))
        assert name == "README.md" or f"({name})" in chart, name


def test_the_map_for_contributors_names_every_folder_of_tests():
    chart = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(r"`(\w+)/?`", re.search(r"Tests are in\n`tests/`(.*?)These programs", chart, re.S)[1])
    folders = [path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name[0] not in "._"]
    assert sorted(named) == sorted(folders)


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
    numbers = re.findall(r"^\| \*\*G(\d+)\. ", SECTIONS[PROMISES], re.M)
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    assert f"(G1 to G{len(numbers)})" in (ROOT / "SECURITY.md").read_text("utf-8")


def test_the_threat_model_says_nothing_beside_its_tables_that_needs_a_test():
    assert list(SECTIONS) == ["Assumptions", PROMISES, *LIMITS]
    for section in (PROMISES, *LIMITS):
        prose = [line for line in SECTIONS[section].splitlines() if line and not line.startswith("|")]
        assert len(prose) <= 1, prose


@pytest.mark.parametrize(
    ("section", "subject", "sentence", "tests"), SENTENCES, ids=lambda cell: re.sub(r"\W+", "-", cell)[:40]
)
def test_a_sentence_of_the_threat_model_names_tests_that_exist(section, subject, sentence, tests):
    if section != PROMISES and tests == "limit":
        return
    named = re.findall(r"`([\w/]+\.py)::([\w:]+)`", tests)
    assert named
    for path, name in named:
        assert name in functions(ROOT / "tests" / path), f"{path}::{name}"


@pytest.mark.parametrize("finding", [f"F{number}" for number in range(1, 11)])
def test_every_finding_of_the_review_has_its_row(finding):
    assert f"| {finding} | " in FINDINGS


def test_a_finding_of_the_review_names_tests_that_exist():
    for row in re.findall(r"^\| (?!Finding |-).*$", FINDINGS, re.M):
        named = re.findall(r"`([\w/]+\.py)::([\w:]+)`", row)
        assert named, row
        for path, name in named:
            assert name in functions(ROOT / "tests" / path), f"{path}::{name}"


def functions(path):
    """The names of the tests in a file, those in classes as Class::name."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
    return found


def test_everybody_in_the_comparison_is_named_with_a_source_and_a_day():
    page = (ROOT / "docs/explanation/comparison.md").read_text("utf-8")
    named = re.search(r"^\| \| (.*) \|$", page, re.M)[1].split(" | ")
    days, sources = re.search(r"^Read in these places (.*?):\n(.*?)^## ", page, re.M | re.S).groups()
    assert days == "in November 2026, up to the 18th"
    assert re.findall(r"^\| ([^|]+) \| <https://", sources, re.M) == named[1:]
