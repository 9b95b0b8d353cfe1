"""The pictures of the docs show what the commands print today."""

from __future__ import annotations

import html
import re
from pathlib import Path

from docs.terminal_picture import PICTURE, draw


def read(picture: Path) -> str:
    """Its text, ids and dates aside."""
    text = html.unescape(re.sub(r"<[^>]+>", "", picture.read_text("utf-8").partition("</defs>")[2]))
    return re.sub(r"[0-9A-Z]{26}|\d{4}-\d\d-\d\d", "…", text)


def test_the_terminal_of_the_readme_shows_what_its_commands_print(tmp_path):
    draw(tmp_path / "again.svg")
    assert read(tmp_path / "again.svg") == read(PICTURE)
    assert "namespace_denied" in read(PICTURE)
