"""How large the house is. Growth past what is written here is a decision: change the figure, and say why."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src/souvenance"
LANGUAGE = ("language",)
"""What knows words of a human language."""
INSPECTOR = (
    "core/conversation/relocate.py",
    "surfaces/http/inspector",
    "surfaces/cli/open_inspector.py",
    "surfaces/cli/demo/fill.py",
    "gate/browser_sessions.py",
    "gate/inspect_forget.py",
    "gate/inspect_lines.py",
    "gate/inspect_retention.py",
    "gate/inspect_search.py",
    "gate/inspect_work.py",
    "gate/inspection.py",
    "gate/token_tree.py",
)
"""The pages in the browser, and what of the gate serves them alone."""
INTEGRATIONS = ("integrations",)
"""What makes this the memory of other people's frameworks."""
DATA = (".json", ".toml")
WORD = re.compile(r"[^\W\d_]{2,}")
SEARCHES = {"compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub"}

MOST = {
    "lines of the inspector": 5_188,
    "lines of integrations": 1_114,
    "lines without these two": 60_425,
    "files": 326,
    "modules with a single importer": 55,
    "regexes": 288,
    "lines of language": 3_171,
    "regexes of language": 113,
    "words of language": 5_865,
}


def within(*places: str) -> Iterator[Path]:
    for place in places:
        path = SOURCE / place
        yield from sorted(path.rglob("*")) if path.is_dir() else (path,)


def python(paths: Iterator[Path]) -> list[Path]:
    return [path for path in paths if path.suffix == ".py"]


def lines(paths: list[Path]) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def is_regex(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="pattern")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name)):
            return name in SEARCHES
    return False


def regexes(paths: list[Path]) -> int:
    trees = (ast.parse(path.read_text("utf-8")) for path in paths)
    return sum(is_regex(node) for tree in trees for node in ast.walk(tree))


def listed_words(path: Path) -> int:
    """The words in its strings, those that document it aside; in a file of data, all of them."""
    text = path.read_text("utf-8")
    if path.suffix in DATA:
        return len(WORD.findall(text))
    tree = ast.parse(text)
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = (
        node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in documents
    )
    return sum(len(WORD.findall(node.value)) for node in strings if isinstance(node.value, str))


def imported(path: Path, modules: Collection[str]) -> set[str]:
    """The modules of ours that the file imports, those that it needs for types alone too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            named = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in modules else str(node.module) for name in named}
    return found & set(modules)


def importers() -> Counter[str]:
    """How many modules import each. A package's empty file is none."""
    modules = {
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in python(within("."))
        if path.stat().st_size
    }
    return Counter(name for path in modules.values() for name in imported(path, modules))


def measured() -> dict[str, int]:
    every, language, inspector, integrations = (
        python(within(*places)) for places in ((".",), LANGUAGE, INSPECTOR, INTEGRATIONS)
    )
    known = [path for path in within(*LANGUAGE) if path.suffix in (".py", *DATA)]
    return {
        "lines without these two": lines(every) - lines(inspector) - lines(integrations),
        "lines of the inspector": lines(inspector),
        "lines of integrations": lines(integrations),
        "files": len(every),
        "modules with a single importer": list(importers().values()).count(1),
        "regexes": regexes(every),
        "lines of language": lines(language),
        "regexes of language": regexes(language),
        "words of language": sum(map(listed_words, known)),
    }


@pytest.fixture(scope="module")
def size():
    found = measured()
    print("", *(f"{what}: {count} of {MOST[what]}" for what, count in found.items()), sep="\n")
    return found


@pytest.mark.parametrize("what", MOST)
def test_the_package_has_not_grown_past_what_was_decided(size, what):
    assert size[what] <= MOST[what]


def test_what_is_counted_apart_is_there():
    assert all((SOURCE / place).exists() for place in (*LANGUAGE, *INSPECTOR, *INTEGRATIONS))
