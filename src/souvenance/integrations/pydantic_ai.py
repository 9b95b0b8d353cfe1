"""Pydantic AI: memory as a toolset."""

from __future__ import annotations

from typing import Any

from souvenance.domain.names import DEFAULT_NAMESPACE
from souvenance.extras import importing
from souvenance.integrations.tools import memory_tools
from souvenance.memory.sync import LineMethods

with importing("pydantic-ai"):
    from pydantic_ai.toolsets import FunctionToolset


def memory_toolset(
    memory: LineMethods, *, namespace: str = DEFAULT_NAMESPACE, id: str = "souvenance"
) -> FunctionToolset[Any]:
    """The tools `recall` and `remember`, for `Agent(toolsets=[...])`. `memory` is `memory.peer(USER)`."""
    return FunctionToolset(memory_tools(memory, namespace=namespace), id=id)
