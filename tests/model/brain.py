"""An honest stand-in: it reads what it is given and answers by rule, in the form that it is asked for."""

from __future__ import annotations

import re

from mnemon.adapters.reason.extractive import Extractive
from mnemon.adapters.reason.stems import content_stems
from mnemon.ports.reasoner import Turn
from model.stand_in import Asked

_NAME = re.compile(r"The people are: \"(.*?)\"")
_QUESTION = re.compile(r"The question: \"(.*)\"$", re.MULTILINE)


def honest(asked: Asked):
    """What a model that invents nothing would say."""
    if asked.system.startswith("You keep what is known"):
        return _facts(asked)
    if asked.system.startswith("You summarise"):
        return _summary(asked)
    return _answer(asked)


def _facts(asked: Asked):
    about = _NAME.search(asked.system)[1]
    turns = [Turn(row["id"], row["by"], row["text"], 0) for row in asked.quoted[-1]]
    found = Extractive().derive(turns, about)
    return {"add": [{"text": fact.text, "sources": list(fact.sources)} for fact in found]}


def _summary(asked: Asked):
    told = " ".join(f"{row['by']} said {row['text'].split('.')[0]}." for row in asked.quoted[-1])
    return told or "Nothing was said."


def _answer(asked: Asked):
    wanted = set(content_stems(_QUESTION.search(asked.text)[1]))
    for row in (row for rows in asked.quoted for row in rows):
        if wanted & set(content_stems(row.get("text", ""))):
            return f"{row['text'].rstrip('.')} [{row['id']}]."
    return "NOTHING KNOWN"
