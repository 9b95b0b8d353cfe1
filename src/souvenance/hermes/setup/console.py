"""The one who answers the wizard: somebody at a terminal, or nobody, and then every default holds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

import click

from souvenance.errors import SouvenanceError
from souvenance.hermes.setup.answers import one_of, yes_or_no

_T = TypeVar("_T")


class Abandoned(Exception):
    """Who was asked left: Ctrl-C, or the end of the input."""


class Console(Protocol):
    @property
    def interactive(self) -> bool:
        """Whether anybody is there to answer."""
        ...

    def say(self, text: str = "") -> None: ...

    def ask(self, prompt: str) -> str:
        """Raises: Abandoned."""
        ...

    def ask_secret(self, prompt: str) -> str:
        """The answer, which is shown nowhere. Raises: Abandoned."""
        ...


class Terminal:
    """Standard input and output."""

    def __init__(self, *, answers: bool = True) -> None:
        self.interactive = answers and sys.stdin.isatty()

    def say(self, text: str = "") -> None:
        click.echo(text)

    def ask(self, prompt: str) -> str:
        return self._asked(prompt, hidden=False)

    def ask_secret(self, prompt: str) -> str:
        return self._asked(prompt, hidden=True)

    def _asked(self, prompt: str, *, hidden: bool) -> str:
        try:
            return str(click.prompt(prompt, default="", show_default=False, hide_input=hidden))
        except click.Abort:
            raise Abandoned from None


def answered(
    console: Console, question: str, default: str, read: Callable[[str], _T], *, shown: str | None = None
) -> _T:
    """What the answer means; an empty one is the default, one that means nothing is asked for again.

    `read` turns a text into its meaning or raises SouvenanceError; `shown` is what the default is called.
    Raises: Abandoned; SouvenanceError if nobody is there and the default means nothing.
    """
    named = default if shown is None else shown
    prompt = f"{question} [{named}]" if named else question
    while True:
        text = console.ask(prompt).strip() if console.interactive else ""
        try:
            return read(text or default)
        except SouvenanceError as error:
            if not console.interactive:
                raise
            console.say(f"  {error.detail}")


def chosen(console: Console, question: str, choices: Mapping[str, tuple[_T, str]], default: _T) -> _T:
    """One of the choices: each has a letter to type, a meaning, and words.

    Raises: Abandoned.
    """
    meanings = {letter: meaning for letter, (meaning, _) in choices.items()}
    if not console.interactive:
        return default
    console.say(f"\n{question}")
    for letter, (_, words) in choices.items():
        console.say(f"  {letter}  {words}")
    letters = {meaning: letter for letter, meaning in meanings.items()}
    return answered(console, "Answer", letters[default], one_of(meanings))


def agreed(console: Console, question: str, *, default: bool) -> bool:
    """Raises: Abandoned."""
    return answered(
        console, question, "yes" if default else "no", yes_or_no, shown="Y/n" if default else "y/N"
    )
