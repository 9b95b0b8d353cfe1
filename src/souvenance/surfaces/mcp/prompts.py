"""The prompts: what a person may start a task with, or end one with."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_types import GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from souvenance.errors import InvalidInput, NotFound

_MOST_TASK_CHARS = 8000

PROMPTS = [
    Prompt(
        name="recall-first",
        title="Look into memory first",
        description="Work on a task with what is remembered of you.",
        arguments=[PromptArgument(name="task", description="What is to be done.", required=True)],
    ),
    Prompt(
        name="end-of-session",
        title="Keep what matters",
        description="At the end of a conversation, remember what will matter in the next one.",
        arguments=[],
    ),
]

_RECALL_FIRST = """\
Before you begin, look into memory: call `profile` once, then `recall` with what this task depends on.
Follow the preferences and decisions that you find, and say which of them you used. If memory has nothing
that helps, go on without it and don't guess.

The task:
{task}"""

_END_OF_SESSION = """\
This conversation ends. Go through it for what will matter in another one: decisions, plans with their
dates, preferences, corrections, open ends. `recall` whether it is known already; call `remember` with what
is new, as complete sentences, at most ten; call `conclude` for a lasting fact about me. Leave out secrets,
small talk and what you only guess. Then tell me in one line each what you kept."""


def prompt(name: str, arguments: Mapping[str, str]) -> GetPromptResult:
    """Raises: NotFound, InvalidInput."""
    match name:
        case "recall-first":
            text = _RECALL_FIRST.format(task=_task(arguments))
        case "end-of-session":
            text = _END_OF_SESSION
        case _:
            raise NotFound("there is no such prompt", hint="prompts/list names them.")
    return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(text=text))])


def _task(arguments: Mapping[str, str]) -> str:
    task = arguments.get("task", "").strip()
    if not 0 < len(task) <= _MOST_TASK_CHARS:
        raise InvalidInput(f"task must have 1 to {_MOST_TASK_CHARS} characters")
    return task
