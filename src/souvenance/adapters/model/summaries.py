"""A summary by a model, kept sentence by sentence as far as the conversation bears it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from souvenance.adapters.model.calls import Asking
from souvenance.adapters.model.endpoint import Prompt
from souvenance.adapters.model.grounding import Embed, Ground, GroundingSource
from souvenance.adapters.model.prompt_files import day, fenced, prompt
from souvenance.adapters.model.replies import in_words, visible
from souvenance.errors import ModelUnusable
from souvenance.language.forms import sentences
from souvenance.ports.model import Turn

_KEPT = 0.5
"""What share of the sentences must be borne for the summary to be one."""
_LONGEST_LINE = 6000
_MOST_TOKENS = 2000
"""How long a summary is asked for."""
_WORDS_PER_TOKEN = 0.6

Count = Callable[[str], int]


def summarise(
    asking: Asking,
    earlier: str | None,
    turns: Sequence[Turn],
    most_tokens: int,
    count: Count,
    embed: Embed | None,
) -> str:
    """In steps, if there is more to read than a prompt has room for.

    Raises: ModelBudgetSpent, ModelUnavailable, ModelUnusable.
    """
    summary = earlier
    room = asking.window - 2 * _tokens(asking, most_tokens) - 600
    for stretch in asking.stretches(turns, lambda turn: turn.text[:_LONGEST_LINE], room):
        summary = _summarised(asking, summary, stretch, most_tokens, count, embed)
    return summary or ""


def _tokens(asking: Asking, most_tokens: int) -> int:
    return max(16, min(most_tokens, _MOST_TOKENS, asking.window // 4))


def _summarised(
    asking: Asking,
    earlier: str | None,
    turns: Sequence[Turn],
    most_tokens: int,
    count: Count,
    embed: Embed | None,
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
    lines = visible(in_words(reply)).splitlines()
    written = [sentence for line in lines for sentence in sentences(line.strip(" -*#•"))]
    if reply.truncated:
        written = written[:-1]
    at = max((turn.said_at for turn in turns), default=0)
    sources = [GroundingSource(turn.text[:_LONGEST_LINE], turn.said_at) for turn in turns]
    ground = Ground(
        [GroundingSource(earlier or "", at), *sources], " ".join(turn.peer for turn in turns), embed
    )
    kept = [one for one in written if ground.bears(one)]
    if len(kept) < max(1, _KEPT * len(written)):
        raise ModelUnusable("the model's summary says what nobody said")
    while kept and count(" ".join(kept)) > most_tokens:
        kept.pop()
    if not kept:
        raise ModelUnusable("the model's summary is longer than it may be")
    return " ".join(kept)
