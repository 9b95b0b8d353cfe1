"""The resources: the profile, the sessions, and one session at a time."""

from __future__ import annotations

from urllib.parse import quote, unquote

import msgspec
from mcp_types import Resource, ResourceTemplate, TextResourceContents

from souvenance.errors import NotFound
from souvenance.surfaces.mcp.memory import PersonsMemory
from souvenance.surfaces.mcp.quotations import QUOTED, cited, message, text_of
from souvenance.surfaces.mcp.tools import profile_text

_PROFILE = "souvenance://profile"
_SESSIONS = "souvenance://sessions"
_MOST_SESSIONS = 50
_MOST_SUMMARY_CHARS = 2000

RESOURCES = [
    Resource(
        uri=_PROFILE,
        name="profile",
        title="What is known of you",
        description="A card of lasting facts, and the newest of what else is known.",
        mime_type="text/plain",
    ),
    Resource(
        uri=_SESSIONS,
        name="sessions",
        title="Your conversations",
        description="The newest sessions, each with the address of its summary and messages.",
        mime_type="application/json",
    ),
]

TEMPLATES = [
    ResourceTemplate(
        uri_template="souvenance://sessions/{id}",
        name="session",
        title="One conversation",
        description="A session's summary, if it has one, and its newest messages.",
        mime_type="text/plain",
    )
]


async def resource(memory: PersonsMemory, uri: str) -> TextResourceContents:
    """Raises: SouvenanceError; NotFound for an address that is none of these."""
    if uri == _PROFILE:
        return TextResourceContents(
            uri=uri, mime_type="text/plain", text=profile_text(await memory.profile())
        )
    if uri == _SESSIONS:
        return TextResourceContents(uri=uri, mime_type="application/json", text=await _sessions(memory))
    name = unquote(uri.removeprefix(f"{_SESSIONS}/"))
    if not uri.startswith(f"{_SESSIONS}/") or not name:
        raise NotFound("there is no such resource", hint="resources/list names them.")
    return TextResourceContents(uri=uri, mime_type="text/plain", text=await _session(memory, name))


async def _sessions(memory: PersonsMemory) -> str:
    listed = await memory.list_sessions(None, _MOST_SESSIONS)
    told = [
        {"id": one.id, "day": one.day, "uri": f"{_SESSIONS}/{quote(one.id, safe='')}"}
        for one in listed.sessions
    ]
    return msgspec.json.encode(told).decode()


async def _session(memory: PersonsMemory, name: str) -> str:
    context = await memory.session(name)
    parts = [QUOTED]
    if context.summary is not None:
        parts.append(f"Summary: {text_of(context.summary.content, most=_MOST_SUMMARY_CHARS)}")
    parts.append(cited(message(one, memory.person.name) for one in context.messages))
    return "\n".join(parts)
