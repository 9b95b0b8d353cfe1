"""What is said to an agent at work and asks nothing of memory: work to do, and questions about the world."""

from __future__ import annotations

from mnemon.adapters.reason.shapes import either
from mnemon.domain.pattern import pattern

_WORK = either(
    """
    add, build, calculate, check, clean up, commit, compile, compose, compute, convert, copy, create, debug,
    delete, deploy, design, draft, edit, execute, fix, format, generate, implement, improve, install,
    make, merge, move, optimi[sz]e, paraphrase, proofread, push, refactor, remove, rename, replace, rerun,
    restart, revert, review, rewrite, run, send, shorten, simplify, sort, test, translate, update, write
    """
)
_WORK_TO_DO = pattern(
    r"\W*(?:(?:ok|okay|now|then|and|so|great|thanks|please|just)\b\W*)*"
    r"(?:(?:can|could|would|will) you (?:please |also |just )?)?"
    rf"(?:{_WORK}) (?:an?|the|this|that|these|those|it|them|all|some|another|me an?)\b"
)
_OF_SOMEBODY = pattern(
    r"\b(?:i|i'm|i've|me|my|mine|we|we've|our|us|he|she|they|him|his|her|them|their|user|user's)\b"
)
_OF_WHOM = pattern(r"\b(?:who|whom|whose)\b")
_ADVICE = pattern(r"\bhow (?:do|can|could|would|should|to)\b|\b(?:should|shall) (?:i|we|you|one|an?|the)\b")
_OWNED = pattern(r"\b(?:my|our|mine|his|her|their)\b")
_OF_SOMETHING_KNOWN = pattern(r"\b(?:the|this|that|these|those)\b")


def gives_work(question: str) -> bool:
    """Whether a question in small letters gives something to do, and names nobody of whom to think."""
    work = _WORK_TO_DO.match(question)
    return work is not None and not _OF_SOMEBODY.search(question, work.end())


def is_of_the_world(question: str) -> bool:
    """Whether a question in small letters asks for advice, or of nobody and of nothing that is known."""
    if _ADVICE.search(question) and not _OWNED.search(question):
        return True
    return not any(known.search(question) for known in (_OF_SOMEBODY, _OF_WHOM, _OF_SOMETHING_KNOWN))
