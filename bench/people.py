"""What an agent is given about a person who types as people do, with no model configured.

    python bench/people.py [--scenes DIR] [--tokens 1200] [--show] [--json OUT]

Each person of the folder is stored through the gate in an empty data folder: one workspace per person, one
session per session, every message at its time. When the background work is done, each question is asked of
search, `representation(search_query)`, `context(search_query)` of the last session, and `chat`. A question
counts as found where the text that came back holds one of the phrases that answer it; a context is its
representation and its card. The first `--tokens` of a text count, as four
characters each; what a call took in milliseconds and gave in tokens is told beside it.
`bench/people/` has twelve made people; four do not write English, and are told apart too.

A person is two files. `NAME.txt`: a line `peers: u=NAME [v=NAME]`, then for each session a line
`## YYYY-MM-DD HH:MM` and its messages, `u: …`, `v: …` or `a: …` (the agent); any other line goes on with
the message before it. `NAME.gold`: `F …` a fact that holds at the end, `N …` one that must not be believed,
and `Q [peer] question | answer | kind | words;;words`, where kind is a (answerable), p (about the past) or
x (nothing answers it).

Cards are judged by words: a line is right if it shares more words, its peer's name among them, with a fact
that holds than with one that does not, false if it is the other way round, and unclear otherwise. `--show`
prints every card line and every question that a column missed, so that a reader can judge the judge.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from souvenance.adapters.word_tables import TokenCounter
from souvenance.config import settings_from
from souvenance.gate.conversation.chat import ASK_PEER, AskPeer
from souvenance.gate.conversation.context import (
    CONTEXT,
    READ_CARD,
    REPRESENT,
    ReadCard,
    Represent,
    SessionContext,
)
from souvenance.gate.conversation.messages import (
    ADD_MESSAGES,
    SEARCH_PEER,
    AddMessages,
    NewMessage,
    SearchPeer,
)
from souvenance.gate.token_verifier import Credentials
from souvenance.installation import Installation, open_installation
from souvenance.language.terms.languages import is_english

SCENES = Path(__file__).resolve().parent / "people"
AGENT = "agent"
TOP = (1, 3, 5)
AROUND = 2
SETTLE_SECONDS = 120.0
_COUNT = TokenCounter().count
_COSTS = ("ms ", "tokens ")


class Question(NamedTuple):
    peer: str
    text: str
    evidence: tuple[str, ...]
    """Phrases in small letters, any of which answers; none if nothing answers."""


class Person(NamedTuple):
    name: str
    peers: dict[str, str]
    sessions: list[tuple[datetime, list[tuple[str, str]]]]
    """When each session began, and who said what in it."""
    facts: list[str]
    non_facts: list[str]
    questions: list[Question]

    def writes_english(self) -> bool:
        said = [text for _, messages in self.sessions for speaker, text in messages if speaker != AGENT]
        return 2 * sum(map(is_english, said)) > len(said)


def people(folder: Path) -> list[Person]:
    return [_person(file) for file in sorted(folder.glob("*.txt"))]


def _person(file: Path) -> Person:
    peers: dict[str, str] = {"a": AGENT}
    sessions: list[tuple[datetime, list[tuple[str, str]]]] = []
    for line in file.read_text("utf-8").splitlines():
        if line.startswith("peers:"):
            peers |= dict(pair.split("=", 1) for pair in line.removeprefix("peers:").split())
        elif line.startswith("## "):
            began = datetime.strptime(line, "## %Y-%m-%d %H:%M").replace(tzinfo=UTC)
            sessions.append((began, []))
        elif found := re.match(r"([uva]): (.*)", line):
            sessions[-1][1].append((peers[found[1]], found[2]))
        elif sessions and sessions[-1][1]:
            speaker, text = sessions[-1][1].pop()
            sessions[-1][1].append((speaker, f"{text}\n{line}"))
    facts, non_facts, questions = [], [], []
    for line in file.with_suffix(".gold").read_text("utf-8").splitlines():
        match line[:2]:
            case "F ":
                facts.append(line[2:])
            case "N ":
                non_facts.append(line[2:])
            case "Q ":
                questions.append(_question(line[2:], peers["u"]))
    return Person(file.stem, peers, sessions, facts, non_facts, questions)


def _question(line: str, default: str) -> Question:
    text, _, kind, words = (part.strip() for part in line.split("|"))
    peer = default
    if named := re.match(r"\[(\w+)\] ", text):
        peer, text = named[1], text[named.end() :]
    return Question(peer, text, () if kind == "x" else tuple(words.split(";;")))


class Asked:
    """One stored person, and what each way of asking gives."""

    def __init__(self, installation: Installation, person: Person, tokens: int) -> None:
        self._installation = installation
        self._person = person
        self._tokens = tokens
        self._last = f"s{len(person.sessions)}"
        self.milliseconds: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()

    def call(self, operation: Any, request: Any) -> Any:
        return self._installation.gate.call(operation, Credentials(self._installation.owner_cap), request)

    def store(self) -> None:
        for number, (began, said) in enumerate(self._person.sessions, 1):
            messages = [
                NewMessage(content=text, peer_id=speaker, created_at=began + timedelta(minutes=minute))
                for minute, (speaker, text) in enumerate(said)
            ]
            self.call(
                ADD_MESSAGES,
                AddMessages(workspace_id=self._person.name, session_id=f"s{number}", messages=messages),
            )

    def search(self, asked: Question, top: int) -> list[str]:
        request = SearchPeer(workspace_id=self._person.name, peer_id=asked.peer, query=asked.text, limit=top)
        return [message.content for message in self.call(SEARCH_PEER, request).messages]

    def with_neighbours(self, asked: Question) -> list[str]:
        """What the first five say, with two messages on either side."""
        found = self.search(asked, max(TOP))
        said = [[text for _, text in messages] for _, messages in self._person.sessions]
        return [
            near
            for text in found
            for session in said
            for at, one in enumerate(session)
            if one == text
            for near in session[max(0, at - AROUND) : at + AROUND + 1]
        ]

    def represented(self, asked: Question) -> str:
        request = Represent(workspace_id=self._person.name, peer_id=asked.peer, search_query=asked.text)
        return self._first_tokens(self.call(REPRESENT, request).representation)

    def context(self, asked: Question) -> str:
        request = SessionContext(
            workspace_id=self._person.name,
            session_id=self._last,
            tokens=self._tokens,
            search_query=asked.text,
            peer_target=asked.peer,
        )
        found = self.call(CONTEXT, request)
        told = [found.peer_representation or "", *(found.peer_card or ())]
        return self._first_tokens("\n".join(told))

    def chat(self, asked: Question) -> str:
        request = AskPeer(workspace_id=self._person.name, peer_id=asked.peer, query=asked.text)
        return self.call(ASK_PEER, request).content or ""

    def cards(self) -> Iterator[tuple[str, str]]:
        for short, peer in self._person.peers.items():
            if short != "a":
                request = ReadCard(workspace_id=self._person.name, peer_id=peer)
                for line in self.call(READ_CARD, request).peer_card or ():
                    yield peer, line

    def timed(self, way: str, ask: Callable[[Question], Any], asked: Question) -> Any:
        began = time.perf_counter()
        found = ask(asked)
        self.milliseconds[way] += round((time.perf_counter() - began) * 1000)
        self.tokens[way] += _COUNT("\n".join([found] if isinstance(found, str) else found))
        return found

    def _first_tokens(self, text: str) -> str:
        return text[: 4 * self._tokens]


def _holds(text: str, asked: Question) -> bool:
    return any(words in text.lower() for words in asked.evidence)


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 2 or word.isdigit()}


def judged(peer: str, line: str, person: Person) -> str:
    said = _words(f"{peer} {line}")
    right = max((len(said & _words(fact)) for fact in person.facts), default=0)
    wrong = max((len(said & _words(fact)) for fact in person.non_facts), default=0)
    return "unclear" if right == wrong else "right" if right > wrong else "false"


def measure(person: Person, tokens: int, show: Callable[[str], None]) -> Counter[str]:
    counts: Counter[str] = Counter()
    settings = {"SOUVENANCE_REQUESTS_PER_MINUTE": "1000000000"}
    with tempfile.TemporaryDirectory() as folder:
        installation = open_installation(settings_from(settings, folder))
        try:
            asked = Asked(installation, person, tokens)
            with installation.working():
                asked.store()
                installation.settle(SETTLE_SECONDS)
            for question in person.questions:
                _measure_one(asked, question, counts, show)
            if not person.writes_english():
                counts["not English, answerable"] = counts["answerable"]
                counts["not English, search top 5"] = counts["search top 5"]
            for peer, line in asked.cards():
                verdict = judged(peer, line, person)
                counts[f"card {verdict}"] += 1
                show(f"  card of {peer} [{verdict}] {line}")
            counts.update({f"ms {way}": spent for way, spent in asked.milliseconds.items()})
            counts.update({f"tokens {way}": told for way, told in asked.tokens.items()})
        finally:
            installation.close()
    return counts


def _measure_one(asked: Asked, question: Question, counts: Counter[str], show: Callable[[str], None]) -> None:
    if not question.evidence:
        counts["unanswerable"] += 1
        counts["chat silent"] += not asked.timed("chat", asked.chat, question)
        return
    counts["answerable"] += 1
    found = asked.timed("search", lambda one: asked.search(one, max(TOP)), question)
    ways = {f"search top {top}": "\n".join(found[:top]) for top in TOP}
    ways["search top 5 with neighbours"] = "\n".join(asked.with_neighbours(question))
    ways["representation"] = asked.timed("representation", asked.represented, question)
    ways["context"] = asked.timed("context", asked.context, question)
    ways["chat"] = asked.timed("chat", asked.chat, question)
    for way, text in ways.items():
        counts[way] += _holds(text, question)
    missed = [way for way, text in ways.items() if not _holds(text, question)]
    if missed:
        show(f"  missed by {', '.join(missed)}: {question.text}")


def _of(name: str, total: Counter[str]) -> int:
    if name.startswith("not English"):
        return total["not English, answerable"]
    return total["unanswerable" if name in ("unanswerable", "chat silent") else "answerable"]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--scenes", type=Path, default=SCENES)
    parser.add_argument("--tokens", type=int, default=1200)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    total: Counter[str] = Counter()
    by_person: dict[str, Counter[str]] = {}
    for person in people(options.scenes):
        if options.show:
            print(person.name)
        by_person[person.name] = measure(person, options.tokens, print if options.show else lambda _: None)
        total += by_person[person.name]
    for name in total:
        if not name.startswith(_COSTS):
            print(
                f"{name:32} {total[name]:5}" + ("" if name.startswith("card") else f" of {_of(name, total)}")
            )
    for name, spent in total.items():
        if name.startswith(_COSTS):
            asked = total["answerable"] + (total["unanswerable"] if name.endswith("chat") else 0)
            print(f"{name:32} {spent / (asked or 1):6.1f} per question")
    if options.json:
        options.json.write_text(json.dumps(by_person, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
