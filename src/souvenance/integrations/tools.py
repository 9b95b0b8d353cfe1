"""Memory as tools that a model calls, for any framework that makes tools of functions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from souvenance.agents.notes import quotation
from souvenance.domain.frame import QUOTED
from souvenance.domain.names import DEFAULT_NAMESPACE
from souvenance.domain.trust import named
from souvenance.memory.results import Line
from souvenance.memory.sync import LineMethods

MemoryTool = Callable[[str], Awaitable[str]]


def shown(lines: Iterable[Line]) -> str:
    """Lines for a prompt, each once, with its day, and marked if it is not the person's own word."""
    found = ((one.occurred_at or one.created_at, quotation(one.text, named(one.trust))) for one in lines)
    return "\n".join(dict.fromkeys(f"- {when.date()}: {text}" for when, text in found))


def alone(text: str, trust: str) -> str:
    """A text for a prompt that puts each in a place of its own, so that each has to say what it is."""
    return f"{QUOTED} {quotation(text, named(trust))}"


def memory_tools(
    memory: LineMethods, *, namespace: str = DEFAULT_NAMESPACE, limit: int = 5
) -> list[MemoryTool]:
    """The functions `recall` and `remember`, about the lines of one person.

    The model says neither whose memory it is nor which namespace: `remember` writes to this one, and `recall`
    searches all that the token opens.
    """

    async def recall(question: str) -> str:
        """Find what is remembered of the user and of earlier conversations.

        Args:
            question: What you want to know, as a question or a few words.
        """
        lines = await asyncio.to_thread(memory.get, question, limit=limit)
        found = shown([line for line in lines if line.matched])
        return f"{QUOTED}\n{found}" if found else "Nothing is remembered of that."

    async def remember(statement: str) -> str:
        """Keep a fact for later conversations.

        Args:
            statement: One fact, in a sentence that can be understood alone.
        """
        await asyncio.to_thread(memory.put, statement, namespace=namespace)
        return "Remembered."

    return [recall, remember]
