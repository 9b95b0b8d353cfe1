"""The benchmarks are programs and no package: their folder is where their parts are imported from."""

from __future__ import annotations

import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"

if str(BENCH) not in sys.path:
    sys.path.append(str(BENCH))
