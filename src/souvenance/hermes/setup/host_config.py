"""The settings file of Hermes, `config.yaml`: read, and one setting of it changed without touching the rest.

A YAML library is used to read and to check the change if there is one, as there is in Hermes' own
environment. Without one, what is written in the plain style of `key: value` lines is understood.
"""

from __future__ import annotations

import copy
import importlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from souvenance.errors import Misconfigured
from souvenance.hermes.setup.atomic_files import replace_text

_LINE = re.compile(r"(?P<indent> *)(?P<key>[\w.-]+|\"[^\"]*\"|'[^']*')\s*:(?:\s+(?P<value>.*?))?\s*$")
_QUOTED = re.compile(r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*')\s*(#.*)?$")
_PLAIN: Mapping[str, Any] = {
    "": None,
    "~": None,
    "null": None,
    "true": True,
    "false": False,
    "{}": {},
    "[]": [],
}
PROVIDER = ("memory", "provider")


def read_settings(path: Path) -> Mapping[str, Any]:
    """What the file says; nothing if there is none or it can't be understood."""
    try:
        return _parsed(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, ValueError):
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
    try:
        text = path.read_bytes().decode("utf-8") if path.exists() else ""
        before = _parsed(text)
        if nested(before, PROVIDER) == name:
            return False
        changed = _changed(text, name)
        if _parsed(changed) != _expected(before, name):
            raise ValueError
    except (OSError, ValueError):
        raise Misconfigured(
            f"{path} can't be changed without disturbing what else it says",
            hint=f"Run: hermes config set {'.'.join(PROVIDER)} {name}",
        ) from None
    replace_text(path, changed)
    return True


def _expected(before: Mapping[str, Any], name: str) -> dict[str, Any]:
    expected = copy.deepcopy(dict(before))
    section, key = PROVIDER
    expected[section] = {**(expected.get(section) or {}), key: name}
    return expected


def _changed(text: str, name: str) -> str:
    """Raises: ValueError for a style that is not understood."""
    if text.lstrip().startswith("{"):
        return json.dumps(_expected(json.loads(text), name), indent=2, ensure_ascii=False) + "\n"
    section, key = PROVIDER
    lines = text.splitlines(keepends=True)
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    at = _find(lines, section, range(len(lines)), 0)
    if at is None:
        closed = text if not text or text.endswith("\n") else text + end
        return f"{closed}{section}:{end}  {key}: {name}{end}"
    value, remark = _value(lines[at])
    if value in ("{}", "null", "~"):
        lines[at] = f"{section}:{remark}{end}"
    elif value:
        raise ValueError(f"{section} is not written as lines")
    block = _block(lines, at)
    indent = next((_indent(lines[below]) for below in block if _counts(lines[below])), 2)
    there = _find(lines, key, block, indent)
    remark = "" if there is None else _value(lines[there])[1]
    line = f"{' ' * indent}{key}: {name}{remark}{end}"
    if there is None:
        lines.insert(at + 1, line)
    else:
        lines[there] = line
    return "".join(lines)


def _find(lines: Sequence[str], key: str, within: range, indent: int) -> int | None:
    for at in within:
        found = _LINE.match(lines[at])
        if found and len(found["indent"]) == indent and found["key"].strip("\"'") == key:
            return at
    return None


def _block(lines: Sequence[str], at: int) -> range:
    """The lines that belong to the key of that line."""
    end = next(
        (below for below in range(at + 1, len(lines)) if _counts(lines[below]) and lines[below][0] != " "),
        len(lines),
    )
    return range(at + 1, end)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _counts(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _value(line: str) -> tuple[str, str]:
    """The value of a `key: value` line, and the remark after it."""
    found = _LINE.match(line)
    said = (found["value"] or "") if found else ""
    if quoted := _QUOTED.match(said):
        return quoted[1], f"  {quoted[2]}" if quoted[2] else ""
    value, _, remark = f" {said}".partition(" #")
    return value.strip(), f"  #{remark}" if remark else ""


def _parsed(text: str) -> Mapping[str, Any]:
    """Raises: ValueError."""
    try:
        yaml = importlib.import_module("yaml")
    except ImportError:
        said = json.loads(text) if text.lstrip().startswith("{") else _understood(text)
    else:
        try:
            said = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ValueError(str(error)) from None
    if said is None:
        return {}
    if not isinstance(said, Mapping):
        raise ValueError("not a mapping")
    return said


def _understood(text: str) -> dict[str, Any]:
    """What plain lines say. Lists and texts of several lines are passed over."""
    root: dict[str, Any] = {}
    open_at: list[tuple[int, dict[str, Any]]] = [(-1, root)]
    passed_over: int | None = None
    for line in filter(_counts, text.splitlines()):
        indent = _indent(line)
        if passed_over is not None and indent > passed_over:
            continue
        passed_over = None
        found = _LINE.match(line)
        if found is None:
            passed_over = indent
            continue
        while open_at[-1][0] >= indent:
            open_at.pop()
        value, _ = _value(line)
        if value in ("", "|", ">", "|-", ">-"):
            inner: dict[str, Any] = {}
            open_at[-1][1][found["key"].strip("\"'")] = inner
            if value:
                passed_over = indent
            else:
                open_at.append((indent, inner))
        else:
            open_at[-1][1][found["key"].strip("\"'")] = _PLAIN.get(value, value.strip("\"'"))
    return root
