"""The tokens that our pages mint, found on the pages themselves, and the founding document's."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

from souvenance.surfaces.cli.tokens import mint

ROOT = Path(__file__).parents[2]
_MINTS = re.compile(r"souvenance cap mint (--[^\n>]*)")
FOUNDING = "--sub ann --ops put,get --namespaces travel"
"""One actor, `namespaces_allowed: ["travel"]`, to put and to get."""


class Minted(NamedTuple):
    page: str
    line: str

    @property
    def claims(self) -> dict[str, Any]:
        """What the command asks for, as the command itself reads it."""
        words = shlex.split(self.line.split(")")[0].replace('"$PUBLIC"', "x"))
        with mint.make_context("mint", words, resilient_parsing=False) as context:
            return dict(context.params)


def minted() -> list[Minted]:
    """Each once, whichever page has it first."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = [
        Minted(str(page.relative_to(ROOT)), line.strip())
        for page in pages
        for line in _MINTS.findall(page.read_text("utf-8"))
    ]
    return list({one.line: one for one in [Minted("the founding document", FOUNDING), *found]}.values())
