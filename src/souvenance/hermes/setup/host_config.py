"""The settings file of Hermes, `config.yaml`: read, and one setting changed without touching the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from souvenance.errors import Misconfigured
from souvenance.files import replace_file

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
    """The value under one key after another; None if there is none."""
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
