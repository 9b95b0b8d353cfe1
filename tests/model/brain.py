"""An honest stand-in: it reads what it is given and answers by rule, in the form that it is asked for."""

from __future__ import annotations

import re

from model.stand_in import Asked
from souvenance.language.terms import terms

_QUESTION = re.compile(r"The question: \"(.*)\"$", re.MULTILINE)


def honest(asked: Asked):
    """What a model that invents nothing would say."""
    if asked.system.startswith("You keep what is known"):
        return _facts(asked)
    if asked.system.startswith("You summarise"):
        return _summary(asked)
    return _answer(asked)


def _facts(asked: Asked):
    """Every line of a person, in the third person."""
    people = re.findall(r'"(.*?)"', asked.system.partition("The people are: ")[2].partition(". Note")[0])
    own = [row for row in asked.quoted[-1] if row["by"] in people]
    return {
        "add": [
            {"about": row["by"], "text": _of(row["by"], row["text"]), "sources": [row["id"]]} for row in own
        ]
    }


def _of(who: str, text: str) -> str:
    return re.sub(r"\b(I live|I work)\b", lambda found: f"{who} {found[0][2:]}s", text).rstrip(".")


def _summary(asked: Asked):
    told = " ".join(f"{row['by']} said {row['text'].split('.')[0]}." for row in asked.quoted[-1])
    return told or "Nothing was said."


def _answer(asked: Asked):
    wanted = set(terms(_QUESTION.search(asked.text)[1]))
    for row in (row for rows in asked.quoted for row in rows):
        if wanted & set(terms(row.get("text", ""))):
            return f"{row['text'].rstrip('.')} [{row['id']}]."
    return "NOTHING KNOWN"
