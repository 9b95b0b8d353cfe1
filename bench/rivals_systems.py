"""The systems that are compared, each at one version, with its best documented settings for no model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_ROOT = Path(__file__).resolve().parents[1]


class System(NamedTuple):
    driver: str
    """The file in `rivals/` that runs it, without its ending."""
    requirements: tuple[str, ...]
    """What is installed, the system itself first."""
    settings: str
    options: Mapping[str, str] = {}

    @property
    def package(self) -> str:
        """The package whose version the table names; "" for a baseline."""
        return "" if self.driver == "baselines" else re.split(r"[\[=@ ]", self.requirements[0])[0]


def _baseline(settings: str, kinds: str) -> System:
    return System("baselines", ("numpy",), settings, {"kinds": kinds})


def _ours(settings: str, options: Mapping[str, str]) -> System:
    return System("souvenance", (f"souvenance[embed,client] @ {_ROOT.as_uri()}",), settings, options)


SYSTEMS = {
    "bm25": _baseline("plain BM25", "words"),
    "bm25-stem": _baseline("BM25 of stemmed words", "stems"),
    "cosine": _baseline("the served embedder alone", "cosine"),
    "fusion": _baseline("stemmed BM25 and the served embedder, fused by reciprocal rank", "stems+cosine"),
    "souvenance": _ours("default settings; the served embedder is the one that comes with it", {}),
    "souvenance-words": _ours("without an embedder", {"SOUVENANCE_EMBEDDER": "none"}),
    "mem0": System("mem0", ("mem0ai==2.2.1",), "`infer=False`, a local Qdrant, vectors alone"),
    "mem0-bm25": System(
        "mem0",
        ("mem0ai==2.2.1", "fastembed", "stop-words"),
        "`infer=False`, a local Qdrant, vectors and fastembed's BM25, whose stop words are from a package "
        "instead of from a hub",
        {"bm25": "yes"},
    ),
    "mempalace": System(
        "mempalace",
        ("mempalace==3.11.0",),
        "a drawer for each turn, candidates by vectors and BM25",
        {"candidate_strategy": "union", "lang": "en"},
    ),
    "engrava": System(
        "engrava",
        ("engrava[vec,embeddings-openai]==0.7.2",),
        "`remember` and `recall`, default weights",
    ),
    "mnemosyne": System(
        "mnemosyne",
        ("mnemosyne-memory[embeddings]==3.15.1",),
        "remember_batch and recall, default weights",
    ),
    "coremem": System(
        "coremem",
        ("coremem==0.17.1",),
        "ingest_many and recall, without its cross-encoder, whose weights are on a hub",
        {"strategy": "direct"},
    ),
    "mcp-memory-service": System(
        "mcp_memory_service",
        ("mcp-memory-service==12.2.0",),
        "retrieve_hybrid by reciprocal rank, near duplicates not merged",
        {"MCP_HYBRID_FUSION_METHOD": "rrf"},
    ),
    "omega": System(
        "omega",
        ("omega-memory==1.5.20",),
        "`store` and `query`, without its inference and its re-ranker, whose weights are on a hub",
    ),
    "hindsight": System(
        "hindsight",
        ("hindsight-api-slim[embedded-db]==1.1.0",),
        "chunks, budget mid, interleaved, without its cross-encoder, whose weights are on a hub; "
        "memory without its PostgreSQL's",
        {"reranking": "interleave"},
    ),
}
