"""Placing the plugin in the homes of Hermes, and taking it away again."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from souvenance.errors import Conflict
from souvenance.hermes.setup.atomic_files import replace_text, unwritable
from souvenance.hermes.setup.profiles import Profile
from souvenance.version import __version__

MARK = "# Placed by 'souvenance hermes install', which also renews and removes it."
"""The first line of every file that we place, and of no other."""

_INIT = f'''{MARK}
"""Souvenance's memory for this profile: Hermes calls register_memory_provider through `register`."""


def register(ctx: object) -> None:
    # Whoever else asks Hermes for memory while the package is loaded waits for it here. Loaded above, it
    # would leave them without: Hermes takes a module that is not whole yet for one that has no provider.
    from souvenance.plugin import register

    register(ctx)
'''

_CLI = f'''{MARK}
"""The commands of `hermes souvenance`, which are loaded when one is run."""

import sys
from typing import Any


def _register(ctx: object) -> None:
    from souvenance.plugin import register

    register(ctx)


# Hermes loads this file before the package itself, which it has for others already: whoever asks it for
# memory meanwhile would go without. So nothing that takes time to load stands above.
if __package__ in sys.modules:
    vars(sys.modules[__package__]).setdefault("register", _register)


def register_cli(subparser: Any) -> None:
    from souvenance.hermes.setup.host_cli import register_cli

    register_cli(subparser)


def souvenance_command(args: object) -> None:
    from souvenance.commands import souvenance_command

    souvenance_command(args)
'''

_MANIFEST = f"""{MARK}
name: souvenance
version: {__version__}
description: "Long-term memory behind a gate: people, sessions and what was said, kept on this machine"
"""

FILES = {"plugin.yaml": _MANIFEST, "cli.py": _CLI, "__init__.py": _INIT}
"""In the order in which they are written: without the last one, the folder is not yet a plugin."""


Outcome = Literal["placed", "renewed", "already in place", "removed", "not there"]


class Step(Struct, frozen=True):
    """What was done for a profile, or would be."""

    profile: str
    folder: Path
    outcome: Outcome


def folder_of(profile: Profile) -> Path:
    return profile.home / "plugins" / "souvenance"


def is_placed(profile: Profile) -> bool:
    """Whether Hermes finds our plugin in this profile."""
    return _is_ours(folder_of(profile) / "__init__.py")


def install(profiles: Sequence[Profile], *, dry_run: bool = False) -> list[Step]:
    """Place the plugin in every one of the profiles, and renew what an older version placed.

    Raises: Conflict, before anything is changed, if somebody else's files are in the way; StorageReadOnly.
    """
    for profile in profiles:
        _must_be_ours(folder_of(profile))
    return [_install(profile, dry_run) for profile in profiles]


def uninstall(profiles: Sequence[Profile], *, dry_run: bool = False) -> list[Step]:
    """Remove what `install` placed, and nothing else.

    Raises: Conflict, before anything is changed, if the plugin there is somebody else's; StorageReadOnly.
    """
    for profile in profiles:
        _must_be_ours(folder_of(profile))
    return [_uninstall(profile, dry_run) for profile in profiles]


def _install(profile: Profile, dry_run: bool) -> Step:
    folder = folder_of(profile)
    differing = {name: text for name, text in FILES.items() if _content(folder / name) != text}
    if not differing:
        return Step(profile.name, folder, "already in place")
    outcome: Outcome = "renewed" if is_placed(profile) else "placed"
    if not dry_run:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(folder, error) from error
        for name, text in differing.items():
            replace_text(folder / name, text)
    return Step(profile.name, folder, outcome)


def _uninstall(profile: Profile, dry_run: bool) -> Step:
    folder = folder_of(profile)
    if not any(_is_ours(folder / name) for name in FILES):
        return Step(profile.name, folder, "not there")
    if not dry_run:
        try:
            _remove(folder)
        except OSError as error:
            raise unwritable(folder, error) from error
    return Step(profile.name, folder, "removed")


def _remove(folder: Path) -> None:
    """A link goes, and what it leads to stays. Of a folder our files go, and it too if nothing is left."""
    if folder.is_symlink():
        folder.unlink()
        return
    for name in reversed(FILES):
        (folder / name).unlink(missing_ok=True)
        for compiled in (folder / "__pycache__").glob(f"{Path(name).stem}.*.pyc"):
            compiled.unlink(missing_ok=True)
    for emptied in (folder / "__pycache__", folder):
        with contextlib.suppress(OSError):
            emptied.rmdir()


def _must_be_ours(folder: Path) -> None:
    if folder.is_symlink() and not folder.exists():
        raise _conflict(folder, "leads to nothing")
    if folder.exists() and not folder.is_dir():
        raise _conflict(folder, "is not a folder")
    for name in FILES:
        path = folder / name
        if (path.exists() or path.is_symlink()) and not _is_ours(path):
            raise _conflict(path, "was not placed by Souvenance")


def _conflict(path: Path, why: str) -> Conflict:
    return Conflict(f"{path} {why}", hint="Nothing was changed. Move it away and try again.")


def _is_ours(path: Path) -> bool:
    content = _content(path)
    return content is not None and content.partition("\n")[0].rstrip() == MARK


def _content(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
