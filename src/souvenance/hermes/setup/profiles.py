"""The homes of a Hermes installation: the default one, and one for every profile."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from souvenance.errors import Misconfigured, NotFound

DEFAULT = "default"
_PROFILES = "profiles"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")


class Profile(Struct, frozen=True):
    name: str
    home: Path

    @property
    def settings(self) -> Path:
        """The file in which Hermes keeps the profile's own settings."""
        return self.home / "config.yaml"


class HermesInstallation(Struct, frozen=True):
    root: Path
    """The home of the default profile."""
    current: Profile
    """The profile that a `hermes` started here would use."""

    def profiles(self) -> list[Profile]:
        """Every profile, the default one first."""
        try:
            found = sorted(path for path in (self.root / _PROFILES).iterdir() if path.is_dir())
        except OSError:
            found = []
        named = [path for path in found if path.name != DEFAULT and _NAME.match(path.name)]
        return [Profile(DEFAULT, self.root), *(Profile(path.name, path) for path in named)]

    def chosen(self, names: Sequence[str]) -> list[Profile]:
        """The profiles of those names, or all if none is named.

        Raises: NotFound.
        """
        every = {profile.name: profile for profile in self.profiles()}
        for name in names:
            if name not in every:
                raise NotFound(
                    f"there is no profile {name!r} in {self.root}", hint=f"Profiles: {', '.join(every)}."
                )
        return [every[name] for name in dict.fromkeys(names)] if names else list(every.values())


def profile_at(home: Path) -> Profile:
    """The profile whose home that is."""
    return Profile(home.name if home.parent.name == _PROFILES else DEFAULT, home)


def find_installation(
    environment: Mapping[str, str],
    home: str | None = None,
    profile: str | None = None,
    *,
    new: bool = False,
) -> HermesInstallation:
    """The installation that the arguments, else the environment, else Hermes' own default place name.

    With `new` the place where Hermes will make its home counts too; a folder that an argument names does not.

    Raises: Misconfigured if there is no such folder; NotFound if it has no such profile.
    """
    given = home or environment.get("HERMES_HOME", "").strip() or "~/.hermes"
    folder = Path(given).expanduser().absolute()
    here = profile_at(folder)
    expected = new and home is None and here.name == DEFAULT and not folder.exists()
    if not folder.is_dir() and not expected:
        raise Misconfigured(
            f"{folder} is not a Hermes home",
            hint="Start Hermes once, or name its folder with --home or HERMES_HOME.",
        )
    installation = HermesInstallation(folder if here.name == DEFAULT else folder.parent.parent, here)
    if here.name == DEFAULT:
        sticky = _sticky(folder)
        if sticky in {one.name for one in installation.profiles()}:
            installation = HermesInstallation(folder, installation.chosen([sticky])[0])
    if profile is not None:
        return HermesInstallation(installation.root, installation.chosen([profile])[0])
    return installation


def _sticky(root: Path) -> str:
    """The profile that `hermes profile use` chose."""
    try:
        return (root / "active_profile").read_text("utf-8").strip() or DEFAULT
    except (OSError, UnicodeDecodeError):
        return DEFAULT


def environment_of(profile: Profile, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment as Hermes sees it: with what the profile's `.env` says, which wins."""
    return {**environment, **_dotenv(profile.home / ".env")}


def _dotenv(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text("utf-8-sig", errors="replace").splitlines()
    except OSError:
        return {}
    said = {}
    for line in lines:
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and not name.startswith("#"):
            said[name.strip()] = _unquoted(value.strip())
    return said


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
