"""The pictures of the docs show what the commands print today."""

from __future__ import annotations

import html
import re
from pathlib import Path

from docs.inspector_pictures import MOST_BYTES, NO_PICTURE, PICTURES, ROOT, picture_of
from docs.terminal_picture import ANSWERS, HERMES_PICTURE, IN_HERMES, PICTURE, draw, draw_hermes
from inspector.door_pages import routes


def read(picture: Path) -> str:
    """Its text, ids and dates aside."""
    text = html.unescape(re.sub(r"<[^>]+>", "", picture.read_text("utf-8").partition("</defs>")[2]))
    text = text.replace("\xa0", " ")
    return re.sub(r"[0-9A-Z]{26}|\d{4}-\d\d-\d\d", "…", text)


def test_the_terminal_of_the_readme_shows_what_its_commands_print(tmp_path):
    draw(tmp_path / "again.svg")
    assert read(tmp_path / "again.svg") == read(PICTURE)
    assert "namespace_denied" in read(PICTURE)


def test_the_terminal_of_hermes_shows_three_commands_and_two_answers_to_a_memory_in_another_chat(
    tmp_path, quick_hermes
):
    """With the command that installs the package, it takes four."""
    *_, asked = draw_hermes(tmp_path / "again.svg", quick_hermes)
    assert read(tmp_path / "again.svg") == read(HERMES_PICTURE)
    assert (len(IN_HERMES), [one for one in ANSWERS if one]) == (3, ["1", "ann"])
    assert read(HERMES_PICTURE).count("]: ") == len(ANSWERS)
    assert "I am allergic to peanuts" in asked.memory
    assert "No peanuts: you told me" in read(HERMES_PICTURE)


def test_every_page_of_the_inspector_has_a_small_picture_and_no_picture_is_of_a_page_that_is_gone():
    wanted = {picture_of(path) for path in routes("GET") if path not in NO_PICTURE}
    made = set(PICTURES.glob("inspector-*.png"))
    assert wanted - made == set(), "run `make pictures`"
    assert made - wanted == set()
    for picture in made:
        assert picture.stat().st_size <= MOST_BYTES, picture


def test_the_docs_show_pictures_that_exist_and_every_page_of_the_inspector():
    shown = set()
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), (page, target)
                shown.add((page.parent / target).resolve())
    assert set(PICTURES.glob("inspector-*.png")) <= shown
