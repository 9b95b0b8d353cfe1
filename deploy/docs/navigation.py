"""The site's navigation: the sections of docs/README.md, and the pages that each names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_SECTION = re.compile(r"^## (.*?)\n(.*?)(?=^## |\Z)", re.M | re.S)
_PAGE = re.compile(r"\[([^\]]+)\]\(([^)#]+\.md)\)")


def on_config(config: Any) -> Any:
    text = (Path(config.docs_dir) / "README.md").read_text("utf-8")
    config.nav = [{"Home": "README.md"}] + [
        {heading: [{_title(name): path} for name, path in _PAGE.findall(pages)]}
        for heading, pages in _SECTION.findall(text)
    ]
    return config


def _title(name: str) -> str:
    """The name in the list, on one line and with a capital."""
    plain = " ".join(name.split())
    return plain[:1].upper() + plain[1:]
