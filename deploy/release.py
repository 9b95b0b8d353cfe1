"""Make what a release consists of, and stop before anything is published.

    python deploy/release.py KEY [--into dist/release]

From a clean checkout whose change log begins with the version: the wheel, the source distribution, the list
of what a server is made of (SBOM, CycloneDX), and their SHA-256, signed with KEY, an SSH key. The same commit
gives the same files.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SBOM_TOOL = ROOT / ".environments/cyclonedx-bom-7.5.0/bin/cyclonedx-py"
PURPOSE = "souvenance-release"
_HEADING = re.compile(r"^## (\S+)", re.M)
_VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.M)


def version() -> str:
    """Raises: SystemExit if this checkout can't be released."""
    if changed := _told("git", "status", "--porcelain"):
        sys.exit(f"Commit these first, or remove them:\n{changed}")
    [number] = _VERSION.findall((ROOT / "src/souvenance/version.py").read_text("utf-8"))
    newest = _HEADING.findall((ROOT / "CHANGELOG.md").read_text("utf-8"))[0]
    if newest != number:
        sys.exit(f"CHANGELOG.md begins with '{newest}', and the version is {number}. Make them the same.")
    return number


def build(into: Path, number: str) -> list[Path]:
    """The files of the release."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": _told("git", "log", "-1", "--format=%ct")}
    hatch = [sys.executable, "-m", "hatchling", "build", "-d", str(into)]
    subprocess.run(hatch, cwd=ROOT, env=environment, check=True, capture_output=True)
    bom = into / f"souvenance-{number}.cdx.json"
    described = [SBOM_TOOL, "requirements", "requirements-serve.lock", "--pyproject", "pyproject.toml"]
    reproducible = ["--output-reproducible", "--no-validate", "--mc-type", "application", "-o", str(bom)]
    subprocess.run(
        [*map(str, described), *reproducible], cwd=ROOT, env=environment, check=True, capture_output=True
    )
    return sorted(into.iterdir())


def sign(into: Path, files: list[Path], key: Path) -> None:
    sums = into / "SHA256SUMS"
    sums.write_text("".join(f"{sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files))
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", PURPOSE, str(sums)], check=True)


def _told(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("key", type=Path, metavar="KEY", help="the SSH key that signs")
    parser.add_argument("--into", type=Path, default=ROOT / "dist/release")
    asked = parser.parse_args()
    if not asked.key.is_file():
        sys.exit(f"There is no key {asked.key}. Make one: ssh-keygen -t ed25519 -f {asked.key}")
    number = version()
    asked.into.mkdir(parents=True, exist_ok=True)
    if any(asked.into.iterdir()):
        sys.exit(f"{asked.into} is not empty. Move away what is there.")
    files = build(asked.into, number)
    sign(asked.into, files, asked.key)
    print(f"Souvenance {number} is in {asked.into}. Nothing is published. Next:")
    print(f"  git tag -s v{number} && git push origin v{number}")
    print(f"  twine upload {asked.into}/*.whl {asked.into}/*.tar.gz")
    print("  attach SHA256SUMS, SHA256SUMS.sig and the SBOM to the release's page")


if __name__ == "__main__":
    main()
