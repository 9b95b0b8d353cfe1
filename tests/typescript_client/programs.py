"""The TypeScript client as its users have it: built, installed as a package, and run by Node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from processes import PATIENCE_SECONDS
from typescript_client.api_types import CLIENT, tool

_OPTIONS = {
    "strict": True,
    "target": "ES2022",
    "lib": ["ES2022", "DOM"],
    "module": "NodeNext",
    "types": [],
    "skipLibCheck": True,
}


def built(folder: Path, sources: dict[str, str]) -> Path:
    """A folder with programs that use the client. The compiler must find no fault in them."""
    package = folder / "node_modules" / "souvenance"
    tool("tsc", "--project", CLIENT, "--outDir", package / "dist")
    shutil.copy(CLIENT / "package.json", package)
    (folder / "package.json").write_text(json.dumps({"type": "module"}), "utf-8")
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": _OPTIONS}), "utf-8")
    for name, source in sources.items():
        (folder / name).write_text(source, "utf-8")
    tool("tsc", "--project", folder)
    return folder


def started(program: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["node", program, *arguments],
        env={"PATH": os.environ["PATH"], **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str], told: str = "") -> str:
    """What it prints from now on. It must succeed."""
    try:
        out, err = process.communicate(told, timeout=PATIENCE_SECONDS)
    finally:
        process.kill()
    assert process.returncode == 0, out + err
    return out
