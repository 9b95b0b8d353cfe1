"""omega-memory: `store` and `query`, without its inference and its re-ranker.

It loads its embedder from a folder of its own; in that place the served one is put.
"""

from __future__ import annotations

from typing import Any

import omega.embedding
from omega import SQLiteStore

from recall_data import Corpus, Question
from rivals_task import EmbedderClient, Place, turns


class Memory:
    def __init__(self, place: Place) -> None:
        _serve(EmbedderClient(place.embedder))
        self._store = SQLiteStore(db_path=place.folder / "omega.db")
        self._turns: dict[str, str] = {}

    def add(self, corpus: Corpus) -> None:
        for turn in turns(corpus):
            about = {"event_type": "memory", "speaker": turn.speaker, "referenced_date": turn.at.isoformat()}
            kept = self._store.store(
                turn.text,
                session_id=turn.session,
                metadata=about,
                skip_inference=True,
                allow_supersession=False,
            )
            # What it takes for the same memory gets the same id: the first turn stands for it.
            self._turns.setdefault(kept, turn.id)

    def search(self, question: Question, most: int) -> list[str]:
        found = self._store.query(question.text, limit=most, use_cache=False, rerank=False)
        return [self._turns[one.id] for one in found]

    def close(self) -> None:
        self._store.close()


def _serve(embedder: EmbedderClient) -> None:
    def one(text: str, *args: Any, **options: Any) -> list[float]:
        return embedder.vectors([text])[0]

    omega.embedding.generate_embedding = one
    omega.embedding.generate_embeddings_batch = embedder.vectors
    omega.embedding.is_embedding_degraded = lambda: False
    omega.embedding.get_active_backend = lambda: "served"
