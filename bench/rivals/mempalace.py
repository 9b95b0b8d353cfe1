"""mempalace: a drawer for each turn, a room for each session."""

from __future__ import annotations

import os

from recall_data import Corpus, Question
from rivals_task import MODEL, Place, turns

WING = "conversation"


class Memory:
    def __init__(self, place: Place) -> None:
        os.environ.update(
            MEMPALACE_PALACE_PATH=str(place.folder),
            MEMPALACE_EMBEDDING_MODEL="openai-compat",
            MEMPALACE_EMBEDDING_API_URL=place.embedder,
            MEMPALACE_EMBEDDING_API_MODEL=MODEL,
        )
        self._place = place
        self._turns: dict[str, str] = {}

    def add(self, corpus: Corpus) -> None:
        from mempalace.mcp_server import tool_add_drawer

        for turn in turns(corpus):
            source = f"/{WING}/{turn.id.replace(':', '-')}.txt"
            kept = tool_add_drawer(wing=WING, room=turn.session, content=turn.text, source_file=source)
            if not kept.get("success"):
                raise RuntimeError(str(kept))
            self._turns[kept["drawer_id"]] = turn.id

    def search(self, question: Question, most: int) -> list[str]:
        from mempalace.searcher import search_memories

        folder = str(self._place.folder)
        found = search_memories(question.text, folder, wing=WING, n_results=most, **self._place.options)
        if "error" in found:
            raise RuntimeError(found["error"])
        return [self._turns[one["drawer_id"]] for one in found["results"]]

    def close(self) -> None:
        """It has no connection of its own to close."""
