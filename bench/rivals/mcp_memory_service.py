"""mcp-memory-service: hybrid retrieval over sqlite-vec, its merging of near duplicates off."""

from __future__ import annotations

import os

from recall_data import Corpus, Question
from rivals_task import MODEL, Place, turns


class Memory:
    def __init__(self, place: Place) -> None:
        os.environ.update(
            MCP_EXTERNAL_EMBEDDING_URL=f"{place.embedder}/embeddings",
            MCP_EXTERNAL_EMBEDDING_MODEL=MODEL,
            MCP_MEMORY_STORAGE_BACKEND="sqlite_vec",
            MCP_MEMORY_BASE_DIR=str(place.folder),
            MCP_SEMANTIC_DEDUP_ENABLED="false",
            **place.options,
        )
        self._file = place.folder / "memory.db"
        self._turns: dict[str, str] = {}

    async def add(self, corpus: Corpus) -> None:
        from mcp_memory_service.models.memory import Memory as Kept
        from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage
        from mcp_memory_service.utils.hashing import generate_content_hash

        self._storage = SqliteVecMemoryStorage(str(self._file))
        await self._storage.initialize()
        for turn in turns(corpus):
            digest = generate_content_hash(turn.text)
            await self._storage.store(
                Kept(
                    content=turn.text,
                    content_hash=digest,
                    tags=[turn.speaker, turn.session],
                    memory_type="observation",
                    metadata={"speaker": turn.speaker, "session": turn.session},
                    created_at=turn.at.timestamp(),
                )
            )
            # The same words said again are refused: the first turn stands for them.
            self._turns.setdefault(digest, turn.id)

    async def search(self, question: Question, most: int) -> list[str]:
        found = await self._storage.retrieve_hybrid(question.text, n_results=most)
        return [self._turns[one.memory.content_hash] for one in found]

    async def close(self) -> None:
        await self._storage.close()
