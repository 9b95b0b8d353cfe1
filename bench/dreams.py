"""What a dream is worth: how much is held, how much of it twice, and what is found by it, before and after.

    python bench/dreams.py [--locomo FILE] [--only 26,44] [--json OUT]

Method. Each LoCoMo conversation is stored through the gate, as in `usermodel.py`: once as it is, and once so
that people repeat themselves: who says 'I …' says it once more at the session's end, as 'I really …'.
When the work behind the lines is done, what both speakers concluded of themselves is counted; then both
dream, as a client asks for it, and it is counted again; then once more, which must change nothing. No model
is called.

- conclusions, reasoned: what was concluded from lines, and what a dream concluded of several conclusions.
- words: of all of them together.
- duplicates: conclusions of one speaker and one session that have the content words of an earlier one.
- merged: by how many conclusions the dream made the store smaller; lost: lines that were cited and no longer
  are, which must be none.
- coverage: of the lines that are gold evidence of a question, the share that a conclusion cites.
- recall@10: the share of a question's gold evidence that the ten conclusions cite which answer it best, be it
  through conclusions that they cite; the mean over all questions of categories 1 to 4 that have any.
- dream ms: from the request to the end of its work, for both speakers.
- bytes: by how much the database file grew or shrank by then, emptied of what was deleted.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from mnemon.bootstrap import House
from mnemon.domain.wording import gist
from mnemon.gate import messages as m
from mnemon.gate import operations as g
from mnemon.gate.admission import Credentials
from mnemon.gate.conversation import asks as q
from mnemon.gate.conversation import operations as o
from usermodel import (
    CATEGORIES,
    DATA,
    Conversation,
    Said,
    added,
    conversations,
    listed,
    opened,
    settled,
    workspace_of,
)

_TOP = 10
_FIRST_PERSON = re.compile(r"\b(I|I'm|I've) (?=[a-z])")


class Figures(NamedTuple):
    conclusions: int
    reasoned: int
    words: int
    duplicates: int
    coverage: float
    recall: float
    cited: frozenset[str]
    """The turns that are cited."""


class Nights(NamedTuple):
    """A conversation before its dream, after it and after a second one."""

    name: str
    before: Figures
    after: Figures
    again: Figures
    dream_ms: float
    bytes: int


def slept(conversation: Conversation, folder: Path) -> Nights:
    with opened(folder) as house, house.working():
        turns = added(house, conversation)
        settled(house, conversation)
        before = counted(house, conversation, turns)
        size, began = _size(house), time.perf_counter()
        dream(house, conversation)
        dream_ms, grown = (time.perf_counter() - began) * 1000, _size(house) - size
        after = counted(house, conversation, turns)
        dream(house, conversation)
        again = counted(house, conversation, turns)
        return Nights(conversation.name, before, after, again, dream_ms, grown)


def repeated(conversation: Conversation) -> Conversation:
    """The same, but whoever says 'I …' says it once more in the end, with a filler."""
    said: list[Said] = []
    for _, lines in groupby(conversation.said, lambda line: line.session):
        told = list(lines)
        more = [line for line in told if _FIRST_PERSON.search(line.text)]
        said += told
        said += [
            line._replace(at=told[-1].at + timedelta(seconds=number), text=_filled(line.text))
            for number, line in enumerate(more, 1)
        ]
    return replace(conversation, name=f"{conversation.name} twice", said=said)


def _filled(text: str) -> str:
    return _FIRST_PERSON.sub(r"\1 really ", text)


def _size(house: House) -> int:
    house.gate.call(g.SCRUB, Credentials(house.owner_cap), m.Scrub())
    return house.settings.book.stat().st_size


def dream(house: House, conversation: Conversation) -> None:
    for speaker in conversation.speakers:
        asked = q.ScheduleDream(
            workspace_id=workspace_of(conversation), observer=speaker, observed=speaker, dream_type="omni"
        )
        house.gate.call(o.SCHEDULE_DREAM, Credentials(house.owner_cap), asked)
    settled(house, conversation)


def counted(house: House, conversation: Conversation, turns: dict[str, str]) -> Figures:
    held = list(listed(house, conversation))
    cites = {one.id: one.source_ids or [] for one in held}
    bases = {line: _bases(line, cites, turns) for line in cites}
    cited = frozenset[str]().union(*bases.values())
    gold = conversation.gold(list(CATEGORIES))
    explicit = [one for one in held if one.level == "explicit"]
    kinds = {(one.observed_id, one.session_id, gist(one.content)) for one in explicit}
    return Figures(
        conclusions=len(explicit),
        reasoned=len(held) - len(explicit),
        words=sum(len(one.content.split()) for one in held),
        duplicates=len(explicit) - len(kinds),
        coverage=len(gold & cited) / max(1, len(gold)),
        recall=_recall(house, conversation, bases),
        cited=cited,
    )


def _bases(line: str, cites: dict[str, list[str]], turns: dict[str, str]) -> frozenset[str]:
    """The turns that a conclusion rests on, directly or through others."""
    found = frozenset(turns[source] for source in cites[line] if source in turns)
    return found.union(*(_bases(source, cites, turns) for source in cites[line] if source in cites))


def _recall(house: House, conversation: Conversation, bases: dict[str, frozenset[str]]) -> float:
    shares = []
    for question in conversation.questions:
        if question.evidence:
            asked = q.QueryConclusions(
                workspace_id=workspace_of(conversation), query=question.text, top_k=_TOP
            )
            found = house.gate.call(o.QUERY_CONCLUSIONS, Credentials(house.owner_cap), asked).conclusions
            cited = frozenset[str]().union(*(bases[one.id] for one in found))
            shares.append(len(question.evidence & cited) / len(question.evidence))
    return sum(shares) / max(1, len(shares))


def print_table(nights: Sequence[Nights]) -> None:
    titles = ["conversation", "", *Figures._fields[:-1], "merged", "lost", "dream ms", "bytes"]
    print("  ".join(f"{title:>12}" for title in titles))
    for one in nights:
        for when, found in (("before", one.before), ("after", one.after), ("again", one.again)):
            more = [""] * 4
            if when == "after":
                merged, lost = one.before.conclusions - found.conclusions, len(one.before.cited - found.cited)
                more = [str(merged), str(lost), f"{one.dream_ms:.0f}", f"{one.bytes:+d}"]
            told = [f"{value:.1%}" if isinstance(value, float) else str(value) for value in found[:-1]]
            print("  ".join(f"{cell:>12}" for cell in (one.name, when, *told, *more)))


def figures(nights: Sequence[Nights]) -> dict[str, object]:
    return {
        one.name: {
            **{when: _shown(getattr(one, when)) for when in ("before", "after", "again")},
            "dream_ms": one.dream_ms,
            "bytes": one.bytes,
        }
        for one in nights
    }


def _shown(found: Figures) -> dict[str, object]:
    return {**found._asdict(), "cited": len(found.cited)}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--locomo", type=Path, default=DATA)
    parser.add_argument("--only", default="", help="some of the conversations, by their id")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def main() -> int:
    asked = arguments()
    nights = []
    for one in conversations(asked.locomo, asked.only.split(",") if asked.only else ()):
        for told in (one, repeated(one)):
            with tempfile.TemporaryDirectory() as folder:
                nights.append(slept(told, Path(folder) / "house"))
    print_table(nights)
    bounds = {
        "no line that was cited is lost": all(one.before.cited <= one.after.cited for one in nights),
        "no duplicate is left": all(one.after.duplicates == 0 for one in nights),
        "a second dream changes nothing": all(one.after[:3] == one.again[:3] for one in nights),
        "recall falls by no more than a point": all(
            one.after.recall >= one.before.recall - 0.01 for one in nights
        ),
    }
    for bound, met in bounds.items():
        print(f"{bound}: {'met' if met else 'MISSED'}")
    if asked.json:
        asked.json.write_text(json.dumps({"dreams": figures(nights)}, indent=1), encoding="utf-8")
    return 0 if all(bounds.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
