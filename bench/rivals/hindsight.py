"""hindsight in chunks mode, which needs no model, on the embedded PostgreSQL that it names.

That PostgreSQL does not run as root: root starts it as nobody, who has to get into the scratch folder.
"""

from __future__ import annotations

import json
import os
import subprocess
from itertools import islice
from pathlib import Path
from typing import Any

import pg0

from recall_data import Corpus, Question
from rivals_task import MODEL, Place, turns

BANK = "conversation"
BATCH = 20
_PG0 = Path(pg0.__file__).parent / "bin" / "pg0"
_NOBODY = 65534


class Memory:
    def __init__(self, place: Place) -> None:
        self._options = place.options
        self._folder = place.folder
        if os.geteuid() == 0:
            for folder in (os.environ["HOME"], place.folder):
                os.chown(folder, _NOBODY, _NOBODY)
        self._pg0("start", "--data-dir", str(place.folder / "postgres"))
        os.environ.update(
            HINDSIGHT_API_DATABASE_URL=json.loads(self._pg0("info", "--output", "json"))["uri"],
            HINDSIGHT_API_LLM_PROVIDER="none",
            HINDSIGHT_API_EMBEDDINGS_PROVIDER="openai",
            HINDSIGHT_API_EMBEDDINGS_OPENAI_BASE_URL=place.embedder,
            HINDSIGHT_API_EMBEDDINGS_OPENAI_API_KEY="none",
            HINDSIGHT_API_EMBEDDINGS_OPENAI_MODEL=MODEL,
            HINDSIGHT_API_RERANKER_PROVIDER="rrf",
            HINDSIGHT_API_RETAIN_EXTRACTION_MODE="chunks",
            HINDSIGHT_API_ENABLE_OBSERVATIONS="false",
            HINDSIGHT_API_LOG_LEVEL="warning",
        )

    async def add(self, corpus: Corpus) -> None:
        from hindsight_api import MemoryEngine
        from hindsight_api.models import RequestContext

        self._context = RequestContext()
        self._engine: Any = MemoryEngine()
        await self._engine.initialize()
        said = turns(corpus)
        while batch := list(islice(said, BATCH)):
            contents = [
                {
                    "content": turn.text,
                    "context": f"conversation, session {turn.session}",
                    "event_date": turn.at,
                    "document_id": turn.id.replace(":", "~"),
                }
                for turn in batch
            ]
            await self._engine.retain_batch_async(
                bank_id=BANK, contents=contents, request_context=self._context
            )

    async def search(self, question: Question, most: int) -> list[str]:
        from hindsight_api.engine.memory_engine import Budget

        found = await self._engine.recall_async(
            bank_id=BANK,
            query=question.text,
            budget=Budget.MID,
            max_tokens=409 * most,
            fact_type=["world", "experience"],
            question_date=question.at,
            request_context=self._context,
            **self._options,
        )
        return [one.document_id.replace("~", ":") for one in found.results]

    async def close(self) -> None:
        await self._engine.close()
        self._pg0("stop")

    def _pg0(self, command: str, *options: str) -> str:
        """What it printed."""
        nobody = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        done = subprocess.run(
            [_PG0, command, "--name", f"conversation-{self._folder.name}", *options],
            cwd=self._folder,
            capture_output=True,
            text=True,
            **nobody,
        )
        if done.returncode:
            raise RuntimeError(f"pg0 {command}: {done.stderr.strip()}")
        return done.stdout
