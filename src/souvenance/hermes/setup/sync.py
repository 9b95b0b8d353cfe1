"""A block for every profile, so that all of them have the memory of the default one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from souvenance.hermes.config_files import FILE, read_configuration, write_setting
from souvenance.hermes.config_reader import host_of
from souvenance.hermes.configuration import Configuration
from souvenance.hermes.settings_table import find
from souvenance.hermes.setup.config_blocks import block_of
from souvenance.hermes.setup.profiles import DEFAULT, HermesInstallation, Profile, environment_of

Outcome = Literal["made", "already there", "has a file of its own"]


class Synced(Struct, frozen=True):
    profile: str
    host: str
    file: Path
    outcome: Outcome
    signs_in: bool = False
    """Whether somebody has to sign in for it."""


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
    if file.exists() and block_of(file, host) is not None:
        return Synced(profile.name, host, file, "already there")
    block: dict[str, Any] = {
        name: value for name, value in (block_of(shared.file, shared.host) or {}).items() if find(name)
    }
    if shared.oauth:
        block = {name: value for name, value in block.items() if name not in ("apiKey", "oauth")}
    block |= {"workspace": shared.workspace, "aiPeer": profile.name, "store": str(shared.store)}
    if shared.peer_name is not None:
        block["peerName"] = shared.peer_name
    file = write_setting(default.home, host, block, environment=environment)
    after, _ = read_configuration(profile.home, environment, profile.name)
    return Synced(profile.name, host, file, "made", signs_in=bool(shared.oauth and not after.oauth))
