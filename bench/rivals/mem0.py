"""mem0 with `infer=False`, its vectors in a local Qdrant, and BM25 beside them if fastembed is installed."""

from __future__ import annotations

from mem0 import Memory as Mem0

from recall_data import Corpus, Question
from rivals_task import DIMENSIONS, MODEL, Place, turns

USER = "user"


class Memory:
    def __init__(self, place: Place) -> None:
        if "bm25" in place.options:
            _load_bm25(place)
        endpoint = {"openai_base_url": place.embedder, "api_key": "none"}
        vectors = {"collection_name": "turns", "embedding_model_dims": DIMENSIONS, "on_disk": True}
        self._memory = Mem0.from_config(
            {
                "vector_store": {
                    "provider": "qdrant",
                    "config": {**vectors, "path": str(place.folder / "qdrant")},
                },
                "embedder": {
                    "provider": "openai",
                    "config": {"model": MODEL, "embedding_dims": DIMENSIONS, **endpoint},
                },
                "llm": {"provider": "openai", "config": endpoint},
                "history_db_path": str(place.folder / "history.db"),
            }
        )

    def add(self, corpus: Corpus) -> None:
        for turn in turns(corpus):
            said = [{"role": "user", "name": turn.speaker, "content": turn.text}]
            about = {"turn": turn.id, "session": turn.session, "date": turn.at.isoformat()}
            self._memory.add(said, user_id=USER, metadata=about, infer=False)

    def search(self, question: Question, most: int) -> list[str]:
        found = self._memory.search(question.text, filters={"user_id": USER}, top_k=most)
        return [one["metadata"]["turn"] for one in found["results"]]

    def close(self) -> None:
        self._memory.vector_store.client.close()


def _load_bm25(place: Place) -> None:
    """Give fastembed's BM25 its stop words: without its file of them mem0 would do without BM25."""
    import fastembed
    from stop_words import get_stop_words

    class WithStopWords(fastembed.SparseTextEmbedding):
        def __init__(self, model_name: str) -> None:
            stop_words = set(get_stop_words("english"))
            super().__init__(model_name, specific_model_path=str(place.folder), stopwords=stop_words)

    fastembed.SparseTextEmbedding = WithStopWords
    next(iter(WithStopWords("Qdrant/bm25").embed(["It works."])))
