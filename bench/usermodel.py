"""What the user model is worth without a model: precision of its conclusions, coverage of the evidence.

    python bench/usermodel.py [--locomo FILE] [--only 26,44] [--sample 400] [--seed 5] [--show 10]
        [--json OUT]

Method. Each LoCoMo conversation is stored through the gate into an empty house in a folder of its own: one
workspace per conversation, one session per session, each line with the day of its session. Of a picture only
what was said beside it is stored, no caption. When the work behind the lines is done, the conclusions of both
speakers about themselves are listed, with the lines they cite. No model is called.

- coverage: of the lines that are gold evidence of a question (categories 1 to 4), the share that at least one
  conclusion cites; also by category. Adversarial questions (5) don't count.
- precision: the share of conclusions that break none of the rules of `usermodel_rules.py`, which are: it is
  attributed right, whole, about the right subject, nothing said to the listener, not asked, not imagined,
  not quoted from another, supported word by word with its negation, dated right, not trivial, and points at
  nothing that it does not name. The rules know nothing of the reasoner. They judge a sample drawn by
  `--seed`, the same share of every conversation; `--show` prints some of each verdict, so that the judge can
  be judged too.
- per message, duplicates: conclusions per stored line; the share whose content words are those of an
  earlier conclusion about the same speaker.
- derive: milliseconds per message of the reasoner alone, over both speakers, warm.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from mnemon.adapters.reason.extractive import Extractive
from mnemon.bootstrap import House, open_house
from mnemon.config import settings_from
from mnemon.gate.admission import Credentials
from mnemon.gate.conversation import asks as q
from mnemon.gate.conversation import operations as o
from mnemon.gate.conversation.answers import Conclusion
from mnemon.ports.reasoner import Turn
from usermodel_rules import RULES, Line, judge

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "locomo-dev.json.gz"
COVERAGE_LEAST = 0.70
PRECISION_LEAST = 0.90
DERIVE_MOST_MS = 1.0

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
_BATCH = 100
_PATIENCE_SECONDS = 600.0
_STEP_SECONDS = 0.02
_ROUNDS = 3


class Said(NamedTuple):
    """A line of a conversation; `before` is what the other said last."""

    turn: str
    session: str
    peer: str
    at: datetime
    text: str
    before: str


class Concluded(NamedTuple):
    about: str
    text: str
    sources: tuple[str, ...]
    """The turns it cites."""
    times: int


class Question(NamedTuple):
    """A question with the turns that its answer is in."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass
class Conversation:
    name: str
    speakers: list[str]
    said: list[Said]
    questions: list[Question]
    concluded: list[Concluded] = field(default_factory=list)
    derive_ms: float = 0.0
    stored_ms: float = 0.0

    @property
    def by_turn(self) -> dict[str, Said]:
        return {said.turn: said for said in self.said}

    def gold(self, categories: Sequence[int]) -> set[str]:
        """The turns that are evidence of a question of these categories."""
        asked = (one.evidence for one in self.questions if one.category in categories)
        return set[str]().union(*asked)


class Verdict(NamedTuple):
    conversation: str
    concluded: Concluded
    broken: str | None
    lines: tuple[str, ...]


def conversations(file: Path, only: Sequence[str]) -> Iterator[Conversation]:
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        told = json.load(opened)
    for one in told:
        if only and one["id"] not in only:
            continue
        said: list[Said] = []
        for session in one["sessions"]:
            began = datetime.strptime(session["date"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            before = ""
            for number, turn in enumerate(session["turns"]):
                at = began + timedelta(seconds=number)
                said.append(
                    Said(turn["id"], f"s{session['session']}", turn["speaker"], at, turn["text"], before)
                )
                before = turn["text"]
        known = {line.turn for line in said}
        questions = [
            Question(asked["question"], asked["category"], frozenset(asked["evidence"]) & known)
            for asked in one["qa"]
            if asked["category"] in CATEGORIES
        ]
        yield Conversation(one["id"], one["speakers"], said, questions)


def store(conversation: Conversation, folder: Path) -> None:
    """Let the product read the conversation, and list what it concludes."""
    with opened(folder) as house:
        began = time.perf_counter()
        with house.working():
            turns = added(house, conversation)
            settled(house, conversation)
        conversation.stored_ms = (time.perf_counter() - began) * 1000 / len(conversation.said)
        conversation.concluded = [
            Concluded(
                one.observed_id,
                one.content,
                tuple(turns[source] for source in one.source_ids or ()),
                one.times_derived,
            )
            for one in listed(house, conversation, "explicit")
        ]


@contextmanager
def opened(folder: Path) -> Iterator[House]:
    """An empty house that anything may be asked of as often as one likes."""
    house = open_house(settings_from({"MNEMON_REQUESTS_PER_MINUTE": "1000000000"}, str(folder)))
    try:
        yield house
    finally:
        house.close()


def settled(house: House, conversation: Conversation) -> None:
    """Wait until nothing of the conversation's work waits or is under way, and every vector is there."""
    asked = q.QueueStatus(workspace_id=workspace_of(conversation))
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        found = house.gate.call(o.QUEUE_STATUS, Credentials(house.owner_cap), asked)
        if not found.pending_work_units + found.in_progress_work_units:
            break
        time.sleep(_STEP_SECONDS)
    house.settle(_PATIENCE_SECONDS)


def added(house: House, conversation: Conversation) -> dict[str, str]:
    """The turn of each stored message, by its id."""
    turns: dict[str, str] = {}
    sessions: dict[str, list[Said]] = {}
    for said in conversation.said:
        sessions.setdefault(said.session, []).append(said)
    for session, lines in sessions.items():
        for at in range(0, len(lines), _BATCH):
            batch = lines[at : at + _BATCH]
            messages = [
                q.NewMessage(content=said.text, peer_id=said.peer, created_at=said.at) for said in batch
            ]
            asked = q.AddMessages(
                workspace_id=workspace_of(conversation), session_id=session, messages=messages
            )
            stored = house.gate.call(o.ADD_MESSAGES, Credentials(house.owner_cap), asked).messages
            turns.update({one.id: said.turn for one, said in zip(stored, batch, strict=True)})
    return turns


def listed(house: House, conversation: Conversation, level: str | None = None) -> Iterator[Conclusion]:
    """What both speakers concluded of themselves, oldest first; of one level or of all."""
    for speaker in conversation.speakers:
        page, pages = 1, 1
        while page <= pages:
            asked = q.ListConclusions(
                workspace_id=workspace_of(conversation),
                filters={
                    "observer_id": speaker,
                    "observed_id": speaker,
                    **({} if level is None else {"level": level}),
                },
                page=page,
                size=100,
                reverse=True,
            )
            found = house.gate.call(o.LIST_CONCLUSIONS, Credentials(house.owner_cap), asked)
            yield from found.items
            page, pages = page + 1, found.pages


def workspace_of(conversation: Conversation) -> str:
    return f"locomo-{conversation.name}"


def time_derive(conversation: Conversation) -> None:
    """The reasoner alone, session by session for both speakers: the least of some rounds."""
    sessions: dict[str, list[Turn]] = {}
    for said in conversation.said:
        moment = round(said.at.timestamp() * 1000)
        sessions.setdefault(said.session, []).append(Turn(said.turn, said.peer, said.text, moment))
    reasoner, least = Extractive(), float("inf")
    for _ in range(_ROUNDS):
        began = time.process_time()
        for turns in sessions.values():
            for speaker in conversation.speakers:
                reasoner.derive(turns, speaker)
        least = min(least, time.process_time() - began)
    conversation.derive_ms = least * 1000 / len(conversation.said)


def judged(conversation: Conversation, share: float, seed: int) -> list[Verdict]:
    drawn = random.Random(f"{seed} {conversation.name}")
    wanted = round(share * len(conversation.concluded))
    by_turn = conversation.by_turn
    found = []
    for one in drawn.sample(conversation.concluded, min(wanted, len(conversation.concluded))):
        cited = [by_turn[turn] for turn in one.sources]
        lines = [Line(said.peer, said.at.date(), said.text) for said in cited]
        listener = next(name for name in conversation.speakers if name != one.about)
        broken = judge(one.text, one.about, lines, [said.before for said in cited], listener)
        found.append(Verdict(conversation.name, one, broken, tuple(said.text for said in cited)))
    return found


def duplicates(conversation: Conversation) -> int:
    known: set[tuple[str, frozenset[str]]] = set()
    again = 0
    for one in conversation.concluded:
        key = (one.about, frozenset(word.strip(".,!\"'()").lower() for word in one.text.split()))
        again += key in known
        known.add(key)
    return again


def figures(told: Sequence[Conversation], verdicts: Sequence[Verdict]) -> dict[str, Any]:
    cited = {(one.name, turn) for one in told for concluded in one.concluded for turn in concluded.sources}

    def covered(categories: Sequence[int]) -> float:
        gold = {(one.name, turn) for one in told for turn in one.gold(categories)}
        return len(gold & cited) / len(gold) if gold else 0.0

    lines = sum(len(one.said) for one in told)
    concluded = sum(len(one.concluded) for one in told)
    broken = Counter(verdict.broken for verdict in verdicts if verdict.broken)
    return {
        "lines": lines,
        "conclusions": concluded,
        "per_message": concluded / lines,
        "cited_lines": len(cited) / lines,
        "coverage": covered(list(CATEGORIES)),
        **{f"coverage_cat{key}": covered([key]) for key in CATEGORIES},
        "judged": len(verdicts),
        "precision": sum(verdict.broken is None for verdict in verdicts) / max(1, len(verdicts)),
        "broken": {rule: broken[rule] for rule in RULES if broken[rule]},
        "duplicates": sum(map(duplicates, told)) / max(1, concluded),
        "words": sum(len(one.text.split()) for each in told for one in each.concluded) / max(1, concluded),
        "derive_ms": max(one.derive_ms for one in told),
        "ingest_ms": sum(one.stored_ms * len(one.said) for one in told) / lines,
    }


def print_table(rows: dict[str, dict[str, Any]]) -> None:
    names = [
        ("conversation", "", ""),
        ("lines", "lines", "d"),
        ("concl.", "conclusions", "d"),
        ("per msg", "per_message", ".2f"),
        ("coverage", "coverage", ".1%"),
        *((kind, f"coverage_cat{key}", ".1%") for key, kind in CATEGORIES.items()),
        ("cited", "cited_lines", ".1%"),
        ("judged", "judged", "d"),
        ("precision", "precision", ".1%"),
        ("duplicates", "duplicates", ".1%"),
        ("words", "words", ".1f"),
        ("derive ms", "derive_ms", ".3f"),
        ("ingest ms", "ingest_ms", ".2f"),
    ]
    print("  ".join(f"{title:>12}" for title, _, _ in names))
    for label, row in rows.items():
        print("  ".join(f"{format(row[key], form) if key else label:>12}" for _, key, form in names))
    for label, row in rows.items():
        print(
            f"broken rules, {label}: " + (", ".join(f"{k} {v}" for k, v in row["broken"].items()) or "none")
        )


def show(verdicts: Sequence[Verdict], most: int) -> None:
    for title, wanted in (
        ("passed", [one for one in verdicts if one.broken is None]),
        ("broken", [one for one in verdicts if one.broken is not None]),
    ):
        print(f"\n{title}: {min(most, len(wanted))} of {len(wanted)}")
        for one in wanted[:most]:
            print(f"  [{one.broken or 'ok'}] {one.concluded.text}")
            for line in one.lines:
                print(f"      < {line}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--locomo", type=Path, default=DATA)
    parser.add_argument("--only", default="", help="some of the conversations, by their id")
    parser.add_argument(
        "--sample", type=int, default=400, help="how many are judged in all; 0 for all of them"
    )
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--show", type=int, default=0, help="print so many of each verdict, with their lines")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def main() -> int:
    asked = arguments()
    told = list(conversations(asked.locomo, asked.only.split(",") if asked.only else ()))
    for one in told:
        with tempfile.TemporaryDirectory() as folder:
            store(one, Path(folder) / "house")
        time_derive(one)
    total = sum(len(one.concluded) for one in told)
    share = min(1.0, asked.sample / total) if asked.sample and total else 1.0
    verdicts = {one.name: judged(one, share, asked.seed) for one in told}
    rows = {one.name: figures([one], verdicts[one.name]) for one in told}
    every = [verdict for found in verdicts.values() for verdict in found]
    rows["all"] = figures(told, every)
    print_table(rows)
    found = rows["all"]
    bounds = [
        (
            "coverage",
            found["coverage"],
            found["coverage"] >= COVERAGE_LEAST,
            f"at least {COVERAGE_LEAST:.0%}",
        ),
        (
            "precision",
            found["precision"],
            found["precision"] >= PRECISION_LEAST,
            f"at least {PRECISION_LEAST:.0%}",
        ),
        (
            "derive ms",
            found["derive_ms"],
            found["derive_ms"] <= DERIVE_MOST_MS,
            f"at most {DERIVE_MOST_MS:g}",
        ),
    ]
    for name, value, met, bound in bounds:
        print(f"{name:>12} {value:8.3f}  {bound}: {'met' if met else 'MISSED'}")
    if asked.show:
        random.Random(asked.seed).shuffle(every)
        show(every, asked.show)
    if asked.json:
        asked.json.write_text(json.dumps({"usermodel": rows}, indent=1), encoding="utf-8")
    return 0 if all(met for _, _, met, _ in bounds) else 1


if __name__ == "__main__":
    sys.exit(main())
