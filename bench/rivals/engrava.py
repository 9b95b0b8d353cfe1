"""engrava: `remember` and `recall` with its default weights."""

from __future__ import annotations

import aiosqlite
from engrava import SqliteEngravaCore
from engrava.embeddings.openai_compatible import OpenAICompatibleProvider

from recall_data import Corpus, Question
from rivals_task import DIMENSIONS, MODEL, Place, turns


class Memory:
    def __init__(self, place: Place) -> None:
        self._place = place
        self._turns: dict[str, str] = {}

    async def add(self, corpus: Corpus) -> None:
        self._connection = await aiosqlite.connect(self._place.folder / "engrava.db")
        self._connection.row_factory = aiosqlite.Row
        embedder = OpenAICompatibleProvider(
            base_url=self._place.embedder, api_key="none", model_name=MODEL, dimension=DIMENSIONS
        )
        self._core = SqliteEngravaCore(
            self._connection, embedding_provider=embedder, auto_embed=True, require_embedding=True
        )
        await self._core.ensure_schema()
        for turn in turns(corpus):
            about = {"speaker": turn.speaker, "session_id": turn.session, "date": turn.at.isoformat()}
            kept = await self._core.remember(turn.text, metadata=about)
            self._turns[kept.thought_id] = turn.id

    async def search(self, question: Question, most: int) -> list[str]:
        found = await self._core.recall(question.text, top_k=most)
        return [self._turns[thought] for thought, _ in found.results]

    async def close(self) -> None:
        await self._connection.close()
