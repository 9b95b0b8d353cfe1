"""A program of somebody else's that a type checker looks at. It is never run."""

from collections.abc import Iterator, Sequence
from typing import assert_type

import souvenance
from souvenance import Context, Line, Memory, Message


def blocking() -> None:
    with souvenance.open("~/.souvenance", embedder="none") as memory:
        assert_type(memory, Memory)
        assert_type(memory.put("I live in Lisbon", namespace="personal"), str)
        assert_type(memory.get("where do I live?"), Sequence[Line])
        assert_type(memory.list(), Iterator[Line])
        assert_type(memory.peer("ann").session("s1").add("Hello"), Message)
        memory.get(5)  # type: ignore[arg-type]


async def with_asyncio() -> None:
    async with souvenance.open_async(url="http://127.0.0.1:8787", token="@token") as memory:
        assert_type(await memory.put("I live in Lisbon", namespace="personal"), str)
        assert_type(await memory.peer("ann").get("where do I live?", limit=1), Sequence[Line])
        assert_type(await memory.peer("ann").session("s1").context(), Context)
        assert_type([line async for line in memory.list()], list[Line])
        await memory.get(5)  # type: ignore[arg-type]
    souvenance.open_async(5)  # type: ignore[arg-type]
