"""mnemosyne-memory: `remember_batch` and `recall`."""

from __future__ import annotations

import os
from itertools import islice

from recall_data import Corpus, Question
from rivals_task import DIMENSIONS, MODEL, Place, turns

BATCH = 50


class Memory:
    def __init__(self, place: Place) -> None:
        os.environ.update(
            MNEMOSYNE_DATA_DIR=str(place.folder),
            MNEMOSYNE_EMBEDDING_API_URL=place.embedder,
            MNEMOSYNE_EMBEDDING_API_KEY="none",
            MNEMOSYNE_EMBEDDING_MODEL=MODEL,
            MNEMOSYNE_EMBEDDING_DIM=str(DIMENSIONS),
            **place.options,
        )
        from mnemosyne.core.beam import BeamMemory

        self._memory = BeamMemory(session_id="conversation", db_path=place.folder / "mnemosyne.db")
        self._turns: dict[str, str] = {}

    def add(self, corpus: Corpus) -> None:
        said = turns(corpus)
        while batch := list(islice(said, BATCH)):
            kept = self._memory.remember_batch(
                [
                    {
                        "content": turn.text,
                        "source": "conversation",
                        "importance": 0.5,
                        "timestamp": turn.at.isoformat(),
                        "metadata": {"speaker": turn.speaker, "session": turn.session},
                    }
                    for turn in batch
                ]
            )
            self._turns |= {one: turn.id for one, turn in zip(kept, batch, strict=True)}

    def search(self, question: Question, most: int) -> list[str]:
        found = self._memory.recall(question.text, top_k=most)
        return [self._turns[one["id"]] for one in found if one.get("id") in self._turns]

    def close(self) -> None:
        """It has no connection of its own to close."""
