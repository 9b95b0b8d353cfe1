"""The reference index: reads every token of the rooms asked about, and caches nothing."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence

from mnemon.domain.bm25 import damping, idf, weight
from mnemon.domain.names import Room
from mnemon.ports.book import Transaction
from mnemon.ports.index import Hit, Question


class ReferenceIndex:
    def search(
        self,
        tx: Transaction,
        questions: Sequence[Question],
        k: int,
        within: Collection[str] | None = None,
    ) -> list[Hit]:
        rooms = [(question, _counts(tx, question.room)) for question in questions]
        everything = [counts for _, lines in rooms for counts in lines.values()]
        if not everything:
            return []
        average = sum(sum(counts.values()) for counts in everything) / len(everything)
        scores: dict[tuple[str, Room], float] = {}
        for term in range(len(questions[0].tokens)):
            holding = sum(
                question.tokens[term] in counts for question, lines in rooms for counts in lines.values()
            )
            for question, lines in rooms:
                for line_id, counts in lines.items():
                    count = counts.get(question.tokens[term])
                    if (
                        count
                        and counts.keys() >= set(question.marks)
                        and (within is None or line_id in within)
                    ):
                        place = (line_id, question.room)
                        gain = idf(len(everything), holding) * weight(
                            count, damping(sum(counts.values()), average)
                        )
                        scores[place] = scores.get(place, 0.0) + gain
        best = sorted(scores, key=lambda place: (scores[place], *place), reverse=True)
        return [Hit(room, line_id, scores[line_id, room]) for line_id, room in best[:k]]

    def forget(self) -> None:
        pass


def _counts(tx: Transaction, room: Room) -> dict[str, dict[int, int]]:
    found: dict[str, dict[int, int]] = {}
    for change in tx.terms.since(room, 0):
        if change.tokens is None:
            found.pop(change.id, None)
        else:
            tokens = array("Q", change.tokens)
            found[change.id] = dict(zip(tokens, change.counts, strict=True))
    return found
