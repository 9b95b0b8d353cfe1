"""What was spent on models, kept in a file of the data folder that all its processes share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import msgspec
from msgspec import Struct

from souvenance.adapters.private_files import exists, read_private, write_private
from souvenance.decoders import settled
from souvenance.domain.model_budget import Allowance, Spent, seconds_left
from souvenance.domain.names import ALL
from souvenance.errors import Misconfigured, ModelBudgetSpent
from souvenance.files import locked

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
