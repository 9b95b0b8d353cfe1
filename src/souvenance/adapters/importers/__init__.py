"""Readers of other memories, which all give the same few kinds of records; which source is which, and its
reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO
from urllib.parse import unquote

from msgspec.structs import replace

from souvenance.adapters.importers import agent_memory, json_files, note_folders
from souvenance.adapters.importers.source_files import elements, member, names_in, opened
from souvenance.adapters.private_files import SourceFile
from souvenance.domain.imports import ImportReader, Upload, Wanted
from souvenance.errors import ImportUnreadable, ImportUnrecognised

HONCHO = "honcho"
Remote = Callable[[str, Wanted], ImportReader]

_READERS = (
    json_files.ChatGPT,
    json_files.Claude,
    json_files.Mem0,
    agent_memory.Letta,
    agent_memory.Episodes,
    note_folders.NoteVault,
    note_folders.MemPalace,
    json_files.Jsonl,
    note_folders.Markdown,
)
_FILES: dict[str, Callable[[SourceFile, Wanted], ImportReader]] = {one.kind: one for one in _READERS}
_ENDINGS = {
    ".jsonl": json_files.JSONL,
    ".ndjson": json_files.JSONL,
    ".md": note_folders.MARKDOWN,
    ".markdown": note_folders.MARKDOWN,
    ".af": agent_memory.LETTA,
}
_URL = re.compile(r"https?://", re.IGNORECASE)
_WORKSPACE = re.compile(r"(.*?)/v3(?:/workspaces/([^/?#]+))?/?")


def recognised(source: str | Upload) -> str:
    """What the source is, where that can be told without guessing. Raises: ImportUnrecognised,
    ImportUnreadable."""
    if isinstance(source, str) and _URL.match(source):
        return HONCHO
    path = _file(source)
    is_folder = isinstance(path, Path) and path.is_dir()
    if is_folder or json_files.is_zip(path):
        chats = [] if is_folder else names_in(path, json_files.CONVERSATIONS)
        if chats:
            is_claude = _kind_of_json(member(path, chats[0]), chats[0]) == json_files.CLAUDE
            return json_files.CLAUDE if is_claude else json_files.CHATGPT
        if kind := note_folders.kind_of_folder(path):
            return kind
        named = source if isinstance(source, str) else path.name
        raise ImportUnrecognised(f"{named} holds nothing that can be imported")
    if (ending := path.suffix.lower()) in _ENDINGS:
        return _ENDINGS[ending]
    if ending == ".json" and (kind := _kind_of_json(opened(path), path.name)):
        return kind
    raise ImportUnrecognised(f"the format of {path.name} is not known")


def _file(source: str | Upload) -> SourceFile:
    return Path(source).expanduser() if isinstance(source, str) else source


def reader(source: str | Upload, kind: str | None, wanted: Wanted, remote: Remote) -> ImportReader:
    """The source, ready to be read; `remote` reads a Honcho server. Raises: ImportUnrecognised,
    ImportUnreadable, InvalidInput, Misconfigured."""
    which = recognised(source) if kind is None else kind
    if which == HONCHO:
        return _honcho(str(source), wanted, remote)
    return _FILES[which](_file(source), wanted)


def _honcho(source: str, wanted: Wanted, remote: Remote) -> ImportReader:
    if not _URL.match(source):
        raise ImportUnreadable(f"{source} is no URL", hint="Name the base URL of the server: https://…")
    found = _WORKSPACE.fullmatch(source)
    if found is None:
        return remote(source, wanted)
    named = unquote(found[2]) if found[2] else None
    return remote(found[1], replace(wanted, workspace=named or wanted.workspace))


def _kind_of_json(opened: AbstractContextManager[IO[bytes]], name: str) -> str | None:
    """By the first element, or by the whole of what is no array. Raises: ImportUnreadable."""
    with opened as file:
        shape = json_files.shape_of(next(elements(file, name), b"null"), name)
    known = {
        json_files.CHATGPT: isinstance(shape.mapping, dict),
        json_files.CLAUDE: isinstance(shape.chat_messages, list),
        json_files.MEM0: isinstance(shape.memory, str) or isinstance(shape.results, list),
        agent_memory.LETTA: isinstance(shape.agents, list) and isinstance(shape.blocks, list),
        agent_memory.EPISODES: isinstance(shape.episodes, list)
        or isinstance(shape.items, list)
        or (isinstance(shape.content, str) and isinstance(shape.uuid, str)),
    }
    return next((kind for kind, fits in known.items() if fits), None)
