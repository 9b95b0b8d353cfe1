"""Plays a session of Python that a page shows; runs where what it imports is installed.

    python sdk_session.py SESSION ADDRESS HOME

A session is a file of blocks, each after a line `# pycon` or `# python`. Blocks share their names. What a
pycon block prints must be what it shows, up to `...`; this program prints nothing unless something differs.
"""

from __future__ import annotations

import doctest
import re
import sys
import warnings
from pathlib import Path
from typing import Any


def play(text: str, page: str) -> int:
    """How many examples did not do what they show."""
    names: dict[str, Any] = {"__name__": "page"}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for kind, body in re.findall(r"^# (pycon|python)\n(.*?)(?=^# (?:pycon|python)$|\Z)", text, re.M | re.S):
        if kind == "python":
            exec(compile(body, page, "exec"), names)
        else:
            test = doctest.DocTestParser().get_doctest(body, names, page, page, 0)
            runner.run(test, clear_globs=False)
            names = test.globs
    return runner.failures


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    session, address, home = sys.argv[1:]
    told = Path(session).read_text("utf-8").replace("127.0.0.1:8787", address).replace("/home/you", home)
    sys.exit(1 if play(told, session) else 0)
