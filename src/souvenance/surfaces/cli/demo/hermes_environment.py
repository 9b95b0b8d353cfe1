"""The environment in which Hermes runs with this very Souvenance: one that is there, or one made anew."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

from souvenance.surfaces.cli.demo.checks import CheckFailed, CheckSkipped, expect
from souvenance.version import __file__ as version_file

HERMES = "hermes-agent==0.19.0"
_FOR_ITS_SERVER = "aiohttp==3.14.1"
_TOO_NEW = (3, 14)
_PATIENCE_SECONDS = 1800.0
_WHEEL = "Wheel-Version: 1.0\nGenerator: souvenance demo\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def prepare(folder: Path) -> str:
    """Make the environment unless it is there, and say what is in it.

    Raises: Skipped, if Hermes can't be had; Failed.
    """
    if not (folder / "bin" / "hermes").exists():
        _make(folder)
    _pip(folder, "check")
    return _told(folder)


def _make(folder: Path) -> None:
    if sys.version_info >= _TOO_NEW:
        raise CheckSkipped(f"{HERMES} wants a Python below 3.14, and this is {sys.version.split()[0]}")
    try:
        venv.create(folder, clear=True, with_pip=True)
        _pip(folder, "install", HERMES, _FOR_ITS_SERVER)
    except (OSError, subprocess.SubprocessError, CheckFailed) as error:
        raise CheckSkipped(f"{HERMES} could not be installed: {error}") from error
    _pip(folder, "install", f"{_wheel(folder)}[hermes]")


def _pip(folder: Path, *arguments: str) -> None:
    """Raises: Failed, with pip's last words."""
    ended = subprocess.run(  # noqa: S603 - pip of the environment
        [folder / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_PATIENCE_SECONDS,
        check=False,
    )
    said = (ended.stdout + ended.stderr).decode(errors="replace").strip().splitlines()
    expect(ended.returncode == 0, said[-1] if said else f"pip ended with {ended.returncode}")


def _wheel(folder: Path) -> Path:
    """This Souvenance as a package, so that what is installed is what runs here and nobody's namesake."""
    installed = distribution("souvenance")
    source = Path(version_file).parent
    files = [path for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    about = f"souvenance-{installed.version}.dist-info"
    wheel = folder / f"souvenance-{installed.version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in files:
            packed.write(path, Path("souvenance") / path.relative_to(source))
        for name in ("METADATA", "entry_points.txt"):
            packed.writestr(f"{about}/{name}", _written(installed, name))
        packed.writestr(f"{about}/WHEEL", _WHEEL)
        names = [*packed.namelist(), f"{about}/RECORD"]
        packed.writestr(f"{about}/RECORD", "".join(f"{name},,\n" for name in names))
    return wheel


def _written(installed: Distribution, name: str) -> str:
    text = installed.read_text(name)
    if text is None:
        raise CheckFailed(f"this Souvenance was installed without its {name}")
    return text


def _told(folder: Path) -> str:
    """The versions of the two, as the environment itself says them."""
    question = (
        "from importlib.metadata import version; import souvenance.plugin; "
        "print(f\"hermes-agent {version('hermes-agent')} and souvenance {version('souvenance')}\")"
    )
    ended = subprocess.run(  # noqa: S603 - Python of the environment
        [folder / "bin" / "python", "-P", "-c", question],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_PATIENCE_SECONDS,
        check=False,
    )
    expect(ended.returncode == 0, f"it does not have both: {ended.stderr.decode(errors='replace')[-300:]}")
    return ended.stdout.decode().strip()
