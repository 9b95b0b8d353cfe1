"""What the reasoner costs a process that only starts."""

from __future__ import annotations

import subprocess
import sys


def test_importing_the_reasoner_compiles_no_pattern_and_loads_nothing_heavy():
    script = """
import sys
import mnemon.domain.words, mnemon.ports.reasoner
import re
before, compiled = set(sys.modules), []
compiling, re.compile = re.compile, lambda *given: compiled.append(given) or compiling(*given)
import mnemon.adapters.reason.extractive
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(len(compiled), *sorted(loaded - set(sys.stdlib_module_names)))
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["0", "mnemon"]
