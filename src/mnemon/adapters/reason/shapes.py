"""Alternations of patterns, written as lists of words."""

from __future__ import annotations


def either(text: str) -> str:
    """The inside of an alternation: the comma-separated forms of a text, each a pattern of its own."""
    return "|".join(" ".join(form.split()) for form in text.split(",") if form.strip())
