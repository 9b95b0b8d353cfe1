"""Asking a model on the account of a workspace: counted before it is asked, whatever comes of it.

The accounts are in a file of the data folder that all its processes share.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from souvenance.adapters.model.endpoint import Endpoint, Failed, Prompt, WireReply
from souvenance.adapters.model.replies import CUT_OFF
from souvenance.adapters.private_files import exists, read_private, write_private
from souvenance.decoders import settled
from souvenance.domain.model_budget import Allowance, Spent, seconds_left
from souvenance.domain.names import ALL
from souvenance.errors import Misconfigured, ModelBudgetSpent, ModelUnavailable, ModelUnusable
from souvenance.files import locked
from souvenance.ports.observer import TOKENS, Watched

_Accounts = dict[str, Spent]


class Reservation(Struct, frozen=True):
    """A call that was counted before it is made."""

    workspace: str
    made: int
    tokens: int


class ModelBudget:
    """Keeps the accounts: one for all, under '*', and one for each workspace, under a hash of its name."""

    def __init__(
        self, path: Path, *, whole: Allowance, each: Allowance, now: Callable[[], int], price: str = ""
    ) -> None:
        self._path = path
        self._now = now
        self.whole = whole
        self.each = each
        self.price = price

    def reserve(self, workspace: str, tokens: int) -> Reservation:
        """Count a call of at most so many tokens.

        Raises: ModelBudgetSpent if it would break a limit, or nobody can tell; StorageUnavailable.
        """
        with self._accounts() as accounts:
            now = self._now()
            checks = (
                (ALL, self.whole, "of the installation"),
                (_account(workspace), self.each, "of the workspace"),
            )
            for account, allowance, whose in checks:
                if lacking := accounts.get(account, Spent()).at(now).lacks(allowance, tokens):
                    raise ModelBudgetSpent(
                        f"the {lacking} {whose} are spent",
                        retry_after=seconds_left(now, of_the_day=lacking.endswith("day")),
                    )
            for account, _, _ in checks:
                accounts[account] = accounts.get(account, Spent()).at(now).with_call(tokens)
        return Reservation(workspace, now, tokens)

    def settle(self, reservation: Reservation, tokens: int) -> None:
        """Put what a call did cost in place of what it might have cost. Raises: StorageUnavailable."""
        if tokens == reservation.tokens:
            return
        with self._accounts() as accounts:
            for account in (ALL, _account(reservation.workspace)):
                spent = accounts.get(account, Spent())
                accounts[account] = spent.corrected(reservation.made, tokens - reservation.tokens)

    def spent(self, workspace: str) -> tuple[Spent, Spent]:
        """What was spent in all, and for that workspace. Raises: ModelBudgetSpent if nobody can tell."""
        accounts, now = self._read(), self._now()
        found = [accounts.get(account, Spent()).at(now) for account in (ALL, _account(workspace))]
        return found[0], found[1]

    @contextmanager
    def _accounts(self) -> Iterator[_Accounts]:
        """The accounts, written back if all goes well; without those that nobody used today."""
        with locked(self._path.parent):
            accounts = self._read()
            yield accounts
            today = Spent().at(self._now()).day
            used = {account: spent for account, spent in accounts.items() if spent.day == today}
            write_private(self._path, msgspec.json.encode(used).decode() + "\n")

    def _read(self) -> _Accounts:
        if not exists(self._path):
            return {}
        try:
            return msgspec.json.decode(read_private(self._path), type=settled(_Accounts))
        except (msgspec.MsgspecError, ValueError, Misconfigured) as error:
            raise ModelBudgetSpent(
                f"what was spent can't be read from {self._path}",
                hint="Correct or delete the file; until then nothing more is spent.",
            ) from error


def _account(workspace: str) -> str:
    return blake2b(workspace.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


_OVERHEAD = 1.15
"""Another tokenizer than ours may count more."""
_PER_MESSAGE = 8
_PER_LINE = 30
_LEAST_ROOM = 200
_T = TypeVar("_T")
Watch = Callable[[], AbstractContextManager[Watched | None]]
"""Watches one call."""


def drained(words: Generator[str, None, WireReply]) -> WireReply:
    """The whole reply, when all of its words have come. Raises: what they raise."""
    while True:
        try:
            next(words)
        except StopIteration as end:
            reply: WireReply = end.value
            return reply


class Asking:
    """One workspace's way to one endpoint."""

    def __init__(
        self,
        endpoint: Endpoint,
        budget: ModelBudget,
        workspace: str,
        *,
        count: Callable[[str], int],
        window: int,
        watch: Watch | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._budget = budget
        self._workspace = workspace
        self._watch = watch or nullcontext
        self.count = count
        self.window = window
        """How many tokens a prompt and its reply may have together."""

    @property
    def calls_tools(self) -> bool:
        """Whether the endpoint takes tools, as far as is known."""
        return self._endpoint.dialect.tools

    def stretches(self, lines: Sequence[_T], text: Callable[[_T], str], room: int) -> list[list[_T]]:
        """Stretches of as many lines as a prompt has room for; a single empty one if there are none."""
        found: list[list[_T]] = [[]]
        used = 0
        for line in lines:
            size = self.count(text(line)) + _PER_LINE
            if used + size > max(_LEAST_ROOM, room) and found[-1]:
                found.append([])
                used = 0
            found[-1].append(line)
            used += size
        return found

    def ask(self, prompt: Prompt) -> WireReply:
        """Raises: ModelBudgetSpent, ModelUnavailable, ModelUnusable."""
        return drained(self._asked(prompt, stream=False))

    def stream(self, prompt: Prompt) -> Generator[str, None, WireReply]:
        """The words as they come, and in the end the whole. Raises: as `ask`."""
        return (yield from self._asked(prompt, stream=True))

    def ask_for(self, prompt: Prompt, read: Callable[[WireReply], _T]) -> _T:
        """What can be read from a reply; where it can't be, it is asked for once more.

        Raises: as `ask`, and what `read` raises.
        """
        reply = self.ask(prompt)
        try:
            return read(reply)
        except ModelUnusable as error:
            if error.detail == CUT_OFF:
                raise
            wrong = f"That can't be read: {error.detail}. Reply with the JSON alone."
            again = {"role": "user", "content": wrong}
            first = {"role": "assistant", "content": reply.text[:2000] or "(nothing)"}
            return read(self.ask(replace(prompt, messages=(*prompt.messages, first, again))))

    def _asked(self, prompt: Prompt, *, stream: bool) -> Generator[str, None, WireReply]:
        """As long as the endpoint refuses only the form of what is asked, it is asked in a plainer one."""
        dialect = self._endpoint.dialect
        while True:
            body = dialect.body(self._endpoint.model, prompt, stream=stream)
            if rest := self._endpoint.rests():
                trouble = f"the model is left alone for {rest} s: {self._endpoint.trouble}"
                raise ModelUnavailable(trouble, retry_after=rest)
            reservation = self._budget.reserve(self._workspace, self.size(prompt) + prompt.tokens)
            cost = reservation.tokens
            try:
                with self._watch() as watched:
                    reply = (yield from self._endpoint.stream(body)) if stream else self._endpoint.ask(body)
                    told = reply.tokens or 0
                    cost = told if told > 0 else self.size(prompt) + self.count(reply.text)
                    if watched is not None:
                        watched.count(TOKENS, cost)
                self._endpoint.dialect = dialect
                return reply
            except Failed as failed:
                cost = cost if failed.spent else 0
                plainer = dialect.humbler(failed.status, failed.complaint, body)
                if plainer is None:
                    raise _translated(failed) from failed
                dialect = plainer
            finally:
                self._budget.settle(reservation, cost)

    def size(self, prompt: Prompt) -> int:
        """How many tokens a prompt has, rather too many than too few."""
        size = sum(self.count(str(message.get("content") or "")) for message in prompt.messages)
        for part in (*prompt.tools, prompt.schema):
            size += self.count(msgspec.json.encode(part).decode()) if part else 0
        return int(size * _OVERHEAD) + _PER_MESSAGE * len(prompt.messages)


def _translated(failed: Failed) -> ModelUnavailable:
    if failed.of_the_prompt:
        return ModelUnusable(failed.detail)
    hint = "Check SOUVENANCE_MODEL_API_KEY." if failed.status in (401, 403) else None
    hint = "Check SOUVENANCE_MODEL_BASE_URL and SOUVENANCE_MODEL_NAME." if failed.status == 404 else hint
    return ModelUnavailable(failed.detail, retry_after=failed.wait, hint=hint)
