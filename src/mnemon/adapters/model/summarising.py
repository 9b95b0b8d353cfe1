"""A conversation summarised by a model, without the sentences that nothing in it bears."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mnemon.adapters.model.asking import Asking
from mnemon.adapters.model.prompting import fenced, prompt
from mnemon.adapters.model.readings import in_words, visible
from mnemon.adapters.model.support import Ground, day, days
from mnemon.adapters.model.wire import Prompt
from mnemon.adapters.reason.sentences import split
from mnemon.errors import ModelUnusable
from mnemon.ports.reasoner import Turn

SHARE = 0.5
"""Which share of a sentence's content words the conversation must have."""

_MOST_TOKENS = 2000
_LONGEST_LINE = 4000
_KEPT = 0.5
"""Less of a summary than that is not what was asked for."""
_WORDS_PER_TOKEN = 0.6

Count = Callable[[str], int]


def summarise(
    asking: Asking, earlier: str | None, turns: Sequence[Turn], most_tokens: int, count: Count
) -> str:
    """In steps, if there is more to read than a prompt has room for; nothing if no sentence is short enough.

    Raises: ModelBudgetSpent, ModelUnavailable, ModelUnusable.
    """
    summary = earlier
    room = asking.window - 2 * _tokens(asking, most_tokens) - 600
    for stretch in asking.stretches(turns, lambda turn: turn.text[:_LONGEST_LINE], room):
        summary = _summarised(asking, summary, stretch, most_tokens, count)
        if not summary:
            return ""
    return summary or ""


def _tokens(asking: Asking, most_tokens: int) -> int:
    return max(16, min(most_tokens, _MOST_TOKENS, asking.window // 4))


def _summarised(
    asking: Asking, earlier: str | None, turns: Sequence[Turn], most_tokens: int, count: Count
) -> str:
    rows = [{"by": turn.peer, "on": day(turn.said_at), "text": turn.text[:_LONGEST_LINE]} for turn in turns]
    told = [f"The conversation:\n{fenced(rows)}"]
    if earlier:
        told.insert(0, f"The earlier summary:\n{fenced([{'summary': earlier}])}")
    tokens = _tokens(asking, most_tokens)
    reply = asking.ask(
        Prompt(
            messages=(
                {"role": "system", "content": prompt("summarise", words=str(int(tokens * _WORDS_PER_TOKEN)))},
                {"role": "user", "content": "\n\n".join(told)},
            ),
            tokens=tokens,
        )
    )
    sentences = _sentences(visible(in_words(reply)))
    if reply.truncated:
        sentences = sentences[:-1]
    names = " ".join(turn.peer for turn in turns)
    also = f"{names} {days(turn.said_at for turn in turns)}"
    ground = Ground([earlier or "", *(turn.text for turn in turns)], also)
    kept = [one for one in sentences if _borne(ground, one)]
    if len(kept) < max(1, _KEPT * len(sentences)):
        raise ModelUnusable("the model's summary says what nobody said")
    while kept and count(" ".join(kept)) > most_tokens:
        kept.pop()
    return " ".join(kept)


def _sentences(text: str) -> list[str]:
    return [sentence for line in text.splitlines() for sentence in split(line.strip(" -*#•"))]


def _borne(ground: Ground, sentence: str) -> bool:
    return ground.names(sentence) and ground.numbers(sentence) and ground.share(sentence) >= SHARE
