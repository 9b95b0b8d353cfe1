"""What runs models is told to report to nobody, before it is loaded: it sets up its reports while it is."""

from __future__ import annotations

import os


def keep_quiet() -> None:
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
