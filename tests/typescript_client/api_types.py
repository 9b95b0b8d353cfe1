"""The types of the TypeScript client, made from what a server says of itself in /openapi.json.

PYTHONPATH=tests python tests/typescript_client/api_types.py    writes them anew
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from processes import PATIENCE_SECONDS
from surfaces.door import serving

ROOT = Path(__file__).resolve().parents[2]
CLIENT = ROOT / "clients" / "typescript"
TYPES = CLIENT / "src" / "api.ts"
TOOLS = ROOT / ".environments" / "typescript-client" / "node_modules" / ".bin"
RENEW = "PYTHONPATH=tests python tests/typescript_client/api_types.py"


def tool(name: str, *arguments: str | Path) -> str:
    """What a tool of the client's prints. It must succeed."""
    assert TOOLS.exists(), "the TypeScript client's tools are not set up: run `make clients`"
    ran = subprocess.run(
        [TOOLS / name, *arguments],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def api_types(openapi: dict[str, Any], folder: Path) -> str:
    """The types of what the client asks and of what it is answered."""
    asked = folder / "asked.json"
    asked.write_text(json.dumps(_asked(openapi)), "utf-8")
    made = tool("openapi-typescript", asked, "--default-non-nullable=false", "--empty-objects-unknown")
    return re.sub(r"^ +\w+\??: never;\n", "", made, flags=re.M)


def _asked(openapi: dict[str, Any]) -> dict[str, Any]:
    """The paths that the client names, without their refusals, which all look the same, and their schemas."""
    source = "".join(file.read_text("utf-8") for file in CLIENT.glob("src/*.ts") if file != TYPES)
    named = set(re.findall(r'"(/v[13]/[^"]+)"', source))
    paths = {path: deepcopy(openapi["paths"][path]) for path in sorted(named)}
    for operations in paths.values():
        for operation in operations.values():
            operation["responses"] = {
                status: answer for status, answer in operation["responses"].items() if status < "300"
            }
    schemas, found = openapi["components"]["schemas"], {}
    reached = [paths]
    while reached:
        for name in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(reached.pop())):
            if name not in found:
                found[name] = schemas[name]
                reached.append(schemas[name])
    return {**openapi, "paths": paths, "components": {"schemas": dict(sorted(found.items()))}}


if __name__ == "__main__":
    with TemporaryDirectory() as folder, serving(Path(folder) / "home") as server:
        TYPES.write_text(api_types(server.openapi, Path(folder)), "utf-8")
