"""The profiles of Hermes: where they are, their `config.yaml`, and one configuration for all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from souvenance.errors import Misconfigured, NotFound
from souvenance.files import replace_file
from souvenance.hermes.config_files import FILE, block_of, host_of, read_configuration, root_of, write_setting
from souvenance.hermes.configuration import Configuration, find
from souvenance.hermes.host import usual_home

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

    @property
    def chosen(self) -> str:
        """What a `hermes` command says to use this profile."""
        return "" if self.name == DEFAULT else f" -p {self.name}"


class HermesInstallation(Struct, frozen=True):
    root: Path
    """The home of the default profile."""
    current: Profile
    """The profile that a `hermes` started here would use."""

    def profiles(self) -> list[Profile]:
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
    return Profile(home.name if home.parent.name == _PROFILES else DEFAULT, home)


def find_installation(
    environment: Mapping[str, str], home: str | None = None, profile: str | None = None, *, new: bool = False
) -> HermesInstallation:
    """The installation that the arguments, else the environment, else Hermes' own default place name.

    With `new` the place where Hermes will make its home counts too; a folder that an argument names does not.

    Raises: Misconfigured if there is no such folder; NotFound if it has no such profile.
    """
    given = home or environment.get("HERMES_HOME", "").strip() or usual_home(environment) or "~/.hermes"
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
            value = value.strip()
            quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'"
            said[name.strip()] = value[1:-1] if quoted else value
    return said


Outcome = Literal["made", "already there", "has a file of its own"]


class Synced(Struct, frozen=True):
    profile: str
    host: str
    file: Path
    outcome: Outcome
    signs_in: bool = False
    """Whether it needs a sign-in."""


def sync(installation: HermesInstallation, environment: Mapping[str, str]) -> list[Synced]:
    """Give every profile without settings of its own those of the default one, its agent's name apart.

    A sign-in is for one profile alone: its refresh token is good once. A key is given to all.
    They share the workspace and the store, and so what is known of people.
    Raises: Misconfigured; StorageUnavailable.
    """
    default, *others = installation.profiles()
    own = {one.name: file for one in others if (file := _own_file(one, environment))}
    for one in others:
        if one.name in own and own[one.name].name != FILE:
            own[one.name] = write_setting(one.home, host_of(one.name), {}, environment=environment)
    shared, _ = read_configuration(default.home, environment_of(default, environment), DEFAULT)
    return [
        Synced(one.name, host_of(one.name), own[one.name], "has a file of its own")
        if one.name in own
        else _synced(default, one, shared, environment)
        for one in others
    ]


def _own_file(profile: Profile, environment: Mapping[str, str]) -> Path | None:
    file = read_configuration(profile.home, environment, profile.name)[0].file
    return file if file is not None and file.parent == profile.home else None


def _synced(
    default: Profile, profile: Profile, shared: Configuration, environment: Mapping[str, str]
) -> Synced:
    host = host_of(profile.name)
    file = default.home / FILE
    if file.exists() and block_of(root_of(file), host) is not None:
        return Synced(profile.name, host, file, "already there")
    block: dict[str, Any] = {
        name: value
        for name, value in (block_of(root_of(shared.file), shared.host) or {}).items()
        if find(name)
    }
    signed_in = bool(block.pop("oauth", None))
    if signed_in:
        block.pop("apiKey", None)
    block |= {"workspace": shared.workspace, "aiPeer": profile.name, "store": str(shared.store)}
    if shared.peer_name is not None:
        block["peerName"] = shared.peer_name
    file = write_setting(default.home, host, block, environment=environment)
    after, _ = read_configuration(profile.home, environment, profile.name)
    return Synced(profile.name, host, file, "made", signs_in=signed_in and not after.oauth)


PROVIDER = ("memory", "provider")


def read_settings(path: Path) -> Mapping[str, Any]:
    """What the file says; nothing if there is none or it can't be understood."""
    try:
        return _parsed(path.read_text("utf-8"))
    except (OSError, ValueError, ImportError):
        return {}


def provider_in(path: Path) -> str:
    """The memory provider that the file names; empty for none."""
    return str(nested(read_settings(path), PROVIDER) or "")


def nested(said: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        said = said.get(key) if isinstance(said, Mapping) else None
    return said


def choose_provider(path: Path, name: str) -> bool:
    """Make the file name the memory provider; whether that changed it.

    Raises: Misconfigured if it can't be done without disturbing the rest of the file; StorageReadOnly.
    """
    section, key = PROVIDER
    by_hand = f"Run: hermes config set {section}.{key} {name}"
    try:
        text = path.read_bytes().decode("utf-8") if path.exists() else ""
        before = _parsed(text)
        if nested(before, PROVIDER) == name:
            return False
        if not isinstance(before.get(section, {}), Mapping | None):
            raise ValueError(f"{section} is no mapping")
        changed = _changed(text, name)
        if _parsed(changed) != {**before, section: {**(before.get(section) or {}), key: name}}:
            raise ValueError
    except ImportError:
        raise Misconfigured(f"{path} can't be changed without PyYAML", hint=by_hand) from None
    except (OSError, ValueError):
        raise Misconfigured(
            f"{path} can't be changed without disturbing what else it says", hint=by_hand
        ) from None
    replace_file(path, changed.encode("utf-8"))
    return True


def _parsed(text: str) -> Mapping[str, Any]:
    """Raises: ValueError, ImportError."""
    import yaml

    try:
        said = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    if said is not None and not isinstance(said, Mapping):
        raise ValueError("not a mapping")
    return said or {}


def _changed(text: str, name: str) -> str:
    """The text with the provider in it, put where the parser says that its place is."""
    import yaml

    section, key = PROVIDER
    end = "\r\n" if "\r\n" in text else "\n"
    root = yaml.compose(text)
    settings = _value_of(root, section)
    if settings is None and root is not None and root.flow_style:
        return _inserted(text, root.start_mark.index + 1, f'"{section}": {{"{key}": "{name}"}}, ')
    if settings is None:
        closed = text if not text or text.endswith("\n") else text + end
        return f"{closed}{section}:{end}  {key}: {name}{end}"
    if not settings.value or settings.tag.endswith(":null"):
        return _replaced(text, settings, f"{{{key}: {name}}}")
    provider = _value_of(settings, key)
    if provider is not None:
        return _replaced(text, provider, f'"{name}"' if getattr(provider, "style", None) == '"' else name)
    first = settings.value[0][0].start_mark
    if settings.flow_style:
        return _inserted(text, first.index, f'"{key}": "{name}", ')
    return _inserted(text, first.index, f"{key}: {name}{end}{' ' * first.column}")


def _value_of(node: Any, key: str) -> Any:
    """The node under that key of a mapping; None if there is none."""
    pairs = node.value if node is not None and node.id == "mapping" else ()
    return next((value for name, value in pairs if name.value == key), None)


def _replaced(text: str, node: Any, new: str) -> str:
    start, end = node.start_mark.index, node.end_mark.index
    return f"{text[:start]}{' ' if start == end else ''}{new}{text[end:]}"


def _inserted(text: str, at: int, new: str) -> str:
    return f"{text[:at]}{new}{text[at:]}"
