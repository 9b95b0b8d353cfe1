"""coremem: `ingest_many` and `recall`; no cross-encoder, whose weights no registry has.

It loads its embedder through sentence-transformers; in that place the served one is put.
"""

from __future__ import annotations

import os
from itertools import islice
from typing import Any

import numpy as np

from recall_data import Corpus, Question
from rivals_task import EmbedderClient, Place, turns

BATCH = 50


class Memory:
    def __init__(self, place: Place) -> None:
        os.environ["DISABLE_CROSS_ENCODER"] = "1"
        import sentence_transformers

        embedder = EmbedderClient(place.embedder)

        class Served:
            """What coremem uses of a `SentenceTransformer`."""

            def __init__(self, *args: Any, **options: Any) -> None:
                """The model is the served one, whatever is named."""

            def encode(self, texts: str | list[str], **options: Any) -> Any:
                found = np.array(embedder.vectors([texts] if isinstance(texts, str) else texts), "f4")
                return found[0] if isinstance(texts, str) else found

        sentence_transformers.SentenceTransformer = Served
        from coremem import MemoryCore

        self._core = MemoryCore(path=str(place.folder))
        self._options = dict(place.options)

    def add(self, corpus: Corpus) -> None:
        said = turns(corpus)
        while batch := list(islice(said, BATCH)):
            self._core.ingest_many(
                [
                    {
                        "role": "user",
                        "content": turn.text,
                        "session_id": turn.session,
                        "ts": turn.at,
                        "user_id": turn.speaker,
                        "id": turn.id,
                    }
                    for turn in batch
                ]
            )

    def search(self, question: Question, most: int) -> list[str]:
        return [one.memory.id for one in self._core.recall(question.text, limit=most, **self._options)]

    def close(self) -> None:
        self._core.close()
