"""What to write into the settings of a program so that it finds this memory."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

from msgspec import Struct

NAME = "souvenance"
CAP_VARIABLE = "SOUVENANCE_CAP"


class ClientConfig(Struct, frozen=True):
    """How a program reaches the memory: by a command that it starts, or at a URL."""

    command: tuple[str, ...] = ()
    url: str | None = None
    with_cap: bool = False
    """Whether it sends the cap in SOUVENANCE_CAP, instead of signing in."""


def _claude_code(way: ClientConfig) -> str:
    if way.url is None:
        return f"claude mcp add --scope user {NAME} -- {shlex.join(way.command)}"
    header = f" --header 'Authorization: Bearer ${{{CAP_VARIABLE}}}'" if way.with_cap else ""
    return f"claude mcp add --scope user --transport http {NAME} {shlex.quote(way.url)}{header}"


def _codex(way: ClientConfig) -> str:
    lines = [f"[mcp_servers.{NAME}]"]
    if way.url is None:
        lines += [f"command = {json.dumps(way.command[0])}", f"args = {json.dumps(way.command[1:])}"]
    else:
        lines.append(f"url = {json.dumps(way.url)}")
    if way.with_cap:
        lines.append(f"bearer_token_env_var = {json.dumps(CAP_VARIABLE)}")
    return "\n".join(lines)


def _opencode(way: ClientConfig) -> str:
    entry: dict[str, object]
    if way.url is None:
        entry = {"type": "local", "command": list(way.command), "enabled": True}
    else:
        entry = {"type": "remote", "url": way.url, "enabled": True}
    if way.with_cap:
        entry["headers"] = {"Authorization": f"Bearer {{env:{CAP_VARIABLE}}}"}
    return _json({"$schema": "https://opencode.ai/config.json", "mcp": {NAME: entry}})


def _cursor(way: ClientConfig) -> str:
    entry: dict[str, object]
    if way.url is None:
        entry = {"command": way.command[0], "args": list(way.command[1:])}
    else:
        entry = {"url": way.url}
    if way.with_cap:
        entry["headers"] = {"Authorization": f"Bearer ${{env:{CAP_VARIABLE}}}"}
    return _json({"mcpServers": {NAME: entry}})


class McpClient(Struct, frozen=True):
    where: str
    """Where it belongs, in words."""
    setup: Callable[[ClientConfig], str]


CLIENTS = {
    "claude-code": McpClient("run in a shell", _claude_code),
    "codex": McpClient("~/.codex/config.toml", _codex),
    "opencode": McpClient("opencode.json in the project, or ~/.config/opencode/opencode.json", _opencode),
    "cursor": McpClient(".cursor/mcp.json in the project, or ~/.cursor/mcp.json", _cursor),
}


def endpoint(url: str) -> str:
    """The address of the MCP door of a server."""
    return url if url.rstrip("/").endswith("/mcp") else f"{url.rstrip('/')}/mcp"


def _json(settings: object) -> str:
    return json.dumps(settings, indent=2, ensure_ascii=False)
