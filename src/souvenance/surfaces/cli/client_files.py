"""The settings files of MCP clients, JSON with comments or TOML: sets one server, and leaves all else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

from souvenance.errors import InvalidInput
from souvenance.patterns import pattern

NAME = "souvenance"
"""What the server is called there."""
Read = Callable[[str], dict[str, Any]]

_TOKEN = pattern(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"/]+', re.DOTALL)


@dataclass(frozen=True)
class ServerEntry:
    under: str
    fields: dict[str, Any]
    known: Collection[str]
    """The fields that we may have set before. Others are the person's own."""
    new: dict[str, Any]
    """What a file that is missing begins with."""
    toml: bool

    def alone(self) -> str:
        """The file, if there is nothing else in it."""
        if self.toml:
            return "\n".join([f"[{self.under}.{NAME}]", *_toml_lines(self.fields)])
        return json.dumps({**self.new, self.under: {NAME: self.fields}}, indent=2, ensure_ascii=False)

    def into(self, text: str) -> str:
        """The file's text with the entry. Raises: InvalidInput."""
        import tomllib

        if not text.strip():
            return f"{self.alone()}\n"
        read: Read = tomllib.loads if self.toml else _read_json
        try:
            before = read(text)
            wanted = {**before, self.under: {**before.get(self.under, {}), NAME: self._merged(before)}}
            changed = self._in_toml(text) if self.toml else self._in_json(text, wanted[self.under][NAME])
            if read(changed) == wanted:
                return changed
        except (ValueError, TypeError, AttributeError):
            pass
        raise InvalidInput(
            "the client's file can't be changed without losing what is in it",
            hint="--print-config prints what to add by hand.",
        )

    def _merged(self, before: dict[str, Any]) -> dict[str, Any]:
        old = before.get(self.under, {}).get(NAME, {})
        kept = {name: value for name, value in old.items() if name not in self.known}
        return {**kept, **self.fields}

    def _in_toml(self, text: str) -> str:
        """Whoever calls this checks what came of it: of a value on several lines only the first is found."""
        head, lines = f"[{self.under}.{NAME}]", text.splitlines()
        if head not in lines:
            return "\n".join([*lines, "", head, *_toml_lines(self.fields), ""])
        at = lines.index(head) + 1
        end = next((i for i in range(at, len(lines)) if lines[i].startswith("[")), len(lines))
        kept = [one for one in lines[at:end] if one.partition("=")[0].strip() not in self.known]
        return "\n".join([*lines[:at], *_toml_lines(self.fields), *kept, *lines[end:], ""])

    def _in_json(self, text: str, fields: dict[str, Any]) -> str:
        tokens = _tokens(text)
        unit = next((one[: -len(one.lstrip())] for one in text.splitlines() if one[:1] in " \t"), "") or "  "
        root = _members(tokens, 0)
        if self.under not in root:
            return _with_first(text, tokens[0].end, self.under, {NAME: fields}, unit, 1, lonely=not root)
        servers = _members(tokens, root[self.under][0])
        if NAME not in servers:
            opening = tokens[root[self.under][0]].end
            return _with_first(text, opening, NAME, fields, unit, 2, lonely=not servers)
        first, last = servers[NAME]
        return text[: tokens[first].start] + _drawn(fields, unit, 2) + text[tokens[last].end :]


def _toml_lines(fields: dict[str, Any]) -> list[str]:
    return [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]


class _Token(NamedTuple):
    start: int
    end: int
    text: str


def _tokens(text: str) -> list[_Token]:
    """Those that JSON has: no comment, and no comma before what closes. Raises: ValueError."""
    found: list[_Token] = []
    at = 0
    for one in _TOKEN.finditer(text):
        if text[at : one.start()].strip():
            raise ValueError
        at = one.end()
        if one[0].startswith(("//", "/*")):
            continue
        if one[0] in "}]" and found and found[-1].text == ",":
            found.pop()
        found.append(_Token(*one.span(), one[0]))
    if text[at:].strip():
        raise ValueError
    return found


def _read_json(text: str) -> dict[str, Any]:
    """Raises: ValueError."""
    found = json.loads(" ".join(one.text for one in _tokens(text)))
    if not isinstance(found, dict):
        raise ValueError
    return found


def _members(tokens: list[_Token], at: int) -> dict[str, tuple[int, int]]:
    """Of each member of the object that opens there, the first and the last token of its value."""
    if tokens[at].text != "{":
        raise ValueError
    found, at = {}, at + 1
    while tokens[at].text != "}":
        last, depth = at + 1, 0
        while last == at + 1 or depth:
            last += 1
            depth += (tokens[last].text in "{[") - (tokens[last].text in "}]")
        found[json.loads(tokens[at].text)] = (at + 2, last)
        at = last + 1 + (tokens[last + 1].text == ",")
    return found


def _with_first(
    text: str, at: int, name: str, value: dict[str, Any], unit: str, depth: int, *, lonely: bool
) -> str:
    """The text with a member more, the first in the object that opens before `at`."""
    added = f"\n{unit * depth}{json.dumps(name)}: {_drawn(value, unit, depth)}"
    rest = text[at:]
    return text[:at] + added + (f"\n{unit * (depth - 1)}{rest.lstrip()}" if lonely else f",{rest}")


def _drawn(value: dict[str, Any], unit: str, depth: int) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", f"\n{unit * depth}")
