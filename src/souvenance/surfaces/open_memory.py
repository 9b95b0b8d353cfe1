"""An open data folder, as the composition root gives it to the doors and commands."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from souvenance.gate.gate import Gate
    from souvenance.gate.oauth_state import OAuthState
    from souvenance.gate.replication import RepairReport


class OpenMemory(Protocol):
    @property
    def gate(self) -> Gate: ...

    @property
    def owner_cap(self) -> str: ...

    @property
    def made(self) -> bool: ...

    @property
    def sign_ins(self) -> OAuthState: ...

    def served_at(self) -> str | None: ...

    def key(self, given: str) -> str:
        """A key as settings give it: itself, or what its file says."""

    def working(self) -> AbstractContextManager[None]:
        """Do the work behind the requests meanwhile."""

    def observe(self, observer: Any) -> None:
        """Show requests and that work to the observer."""

    def announced(self, url: str) -> AbstractContextManager[None]:
        """Let programs on this machine find the server at that URL meanwhile."""

    def tidy(self) -> bool: ...

    def catch_up(self, seconds: float) -> None: ...

    def settle(self, seconds: float) -> None: ...

    def carry(self, seconds: float) -> None: ...

    def repair(self) -> RepairReport: ...

    def rebuild(self) -> RepairReport: ...

    def close(self) -> None: ...


OpenInstallation = Callable[..., OpenMemory]
