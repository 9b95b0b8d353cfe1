"""The two datasets that recall is measured on, in one form: what was said, what is asked, what is gold.

LoCoMo: a corpus is a conversation of two people. A turn's text is what was said and, where a picture was
shared, its caption in brackets. Gold are the evidence turns, sessions those of the gold turns. Questions
without evidence are left out; one that names a turn that the conversation lacks keeps it among its gold.
It is asked on the day after the last session.

LongMemEval: a corpus is one question's haystack of sessions between `user` and `assistant`, in the order
of their dates. Gold turns have `has_answer`, gold sessions are named. The official set is every question
that has an answer and at least one user turn that has it, and its protocol looks through the user's turns
alone: this view bears no prefix. The assistant's turns, nine tenths of the text, are then stored as an
ellipsis, which keeps the user's turns as far apart as they were, and questions that only they answer are left
out. With `both` all is there: in the view `both_` everything is looked through, and `_wide` counts those
questions too. It is asked at the question's own date.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

ABSTENTION = "abstention"
"""The kind of a question that nothing answers."""

_USER, _LEFT_OUT = "user", "…"
_EVIDENCE = re.compile(r"D(\d+):(\d+)")


class Turn(NamedTuple):
    id: str
    speaker: str
    text: str


class Session(NamedTuple):
    id: str
    at: datetime
    turns: list[Turn]


class Question(NamedTuple):
    text: str
    at: datetime
    kind: str
    gold_turns: frozenset[str]
    gold_sessions: frozenset[str]
    groups: Mapping[str, tuple[str, ...]]
    """In which views it counts, and there for the means with which suffixes; "" is the headline."""

    @property
    def unanswerable(self) -> bool:
        return self.kind == ABSTENTION


class Corpus(NamedTuple):
    """What one store holds, and what is asked there."""

    name: str
    sessions: list[Session]
    questions: list[Question]
    views: Mapping[str, str | None]
    """Whose turns are looked through, by the prefix of the measures' names; None is for everyone's."""

    @property
    def session_of(self) -> dict[str, str]:
        return {turn.id: session.id for session in self.sessions for turn in session.turns}

    @property
    def digest(self) -> str:
        """What changes whenever something else would be stored."""
        told = repr([(session.at.isoformat(), session.turns) for session in self.sessions])
        return hashlib.sha256(told.encode()).hexdigest()[:16]


def locomo(path: Path) -> list[Corpus]:
    return [_conversation(one) for one in _read(path)]


def longmemeval(path: Path, *, both: bool = False) -> list[Corpus]:
    data = _read(path)
    sessions = {one["key"]: one for one in data["sessions"]}
    found = [_haystack(one, sessions, both=both) for one in data["questions"]]
    return [one for one in found if both or one.questions[0].unanswerable or "" in one.questions[0].groups]


def limited(corpora: list[Corpus], questions: int | None) -> list[Corpus]:
    """The corpora of the first so many questions, with these alone."""
    kept: list[Corpus] = []
    left = sum(len(corpus.questions) for corpus in corpora) if questions is None else questions
    for corpus in corpora:
        if asked := corpus.questions[:left]:
            kept.append(corpus._replace(questions=asked))
            left -= len(asked)
    return kept


def _read(path: Path) -> Any:
    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)


def _conversation(data: dict[str, Any]) -> Corpus:
    sessions = [
        Session(
            f"D{one['session']}",
            datetime.strptime(one["date"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC),
            [Turn(turn["id"], turn["speaker"], _with_caption(turn)) for turn in one["turns"]],
        )
        for one in data["sessions"]
    ]
    asked_at = max(session.at for session in sessions) + timedelta(days=1)
    questions = [
        Question(
            one["question"],
            asked_at,
            f"cat{one['category']}",
            gold := frozenset(evidence(one["evidence"])),
            frozenset(turn.partition(":")[0] for turn in gold),
            {"": (*(("",) if one["category"] != 5 else ()), "_all", f"_cat{one['category']}")},
        )
        for one in data["qa"]
        if any(evidence(one["evidence"]))
    ]
    return Corpus(f"locomo-{data['id']}", sessions, questions, {"": None})


def evidence(named: list[str]) -> Iterator[str]:
    """The turns that some evidence names, however it is written: `D3:05; D4:1` are `D3:5` and `D4:1`."""
    for one in named:
        for session, turn in _EVIDENCE.findall(one):
            yield f"D{int(session)}:{int(turn)}"


def _with_caption(turn: dict[str, Any]) -> str:
    caption = turn.get("image_caption")
    return f"{turn['text']} [{caption}]" if caption else str(turn["text"])


def _haystack(data: dict[str, Any], known: dict[str, Any], *, both: bool) -> Corpus:
    gold: set[str] = set()
    by_user = False
    sessions: list[Session] = []
    for one in data["haystack"]:
        found = known[one["session"]]
        turns = []
        for number, turn in enumerate(found["turns"], 1):
            text = turn["text"] if both or turn["role"] == _USER else _LEFT_OUT
            turns.append(Turn(f"{found['id']}:{number}", turn["role"], text))
            if turn.get("has_answer"):
                gold.add(turns[-1].id)
                by_user = by_user or turn["role"] == _USER
        sessions.append(Session(found["id"], _moment(one["date"]), turns))
    sessions.sort(key=lambda session: session.at)
    answered = gold and not data["abstention"]
    kind = f"_{data['type']}"
    groups: dict[str, tuple[str, ...]] = {"both_": ("_wide", kind)}
    if by_user:
        groups = {"": ("", kind), "both_": ("", "_wide", kind)}
    question = Question(
        data["question"],
        _moment(data["date"]),
        ABSTENTION if data["abstention"] else data["type"],
        frozenset(gold if answered else ()),
        frozenset(data["answer_sessions"] if answered else ()),
        groups if answered else {},
    )
    views = {"": _USER, "both_": None} if both else {"": _USER}
    return Corpus(f"longmemeval-{data['id']}", sessions, [question], views)


def _moment(text: str) -> datetime:
    return datetime.strptime(text, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)
