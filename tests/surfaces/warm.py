"""Commands and a server's application, run and made once by the process that forks for all others.

What the package works out when it is first asked, every command finds done: decoders, patterns, word lists.
"""

from __future__ import annotations

import gc
import io
import sys
from contextlib import redirect_stdout, suppress
from functools import cache
from tempfile import TemporaryDirectory

import pytest

from souvenance import open_installation, settings_from
from souvenance.adapters import word_tables
from souvenance.commands import main
from souvenance.surfaces.http.app import make_app

word_tables._TokenTable = cache(word_tables._TokenTable)  # type: ignore[misc]
COMMANDS = (("put", "I live in Lisbon"), ("get", "Where do I live?"), ("list",), ("status",))

with TemporaryDirectory() as home, pytest.MonkeyPatch.context() as patched, redirect_stdout(io.StringIO()):
    known = {"SOUVENANCE_HOME": home, "SOUVENANCE_EMBEDDER": "none"}
    for name, value in known.items():
        patched.setenv(name, value)
    for arguments in COMMANDS:
        patched.setattr(sys, "argv", ["souvenance", *arguments])
        with suppress(SystemExit):
            main()
    installation = open_installation(settings_from(known))
    make_app(installation.gate)
    installation.close()
gc.freeze()
