"""Where the wizard lets somebody sign in: asked for at once, kept with the other answers, or taken back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Literal

from souvenance.errors import InvalidInput, SouvenanceError
from souvenance.hermes.config_files import default_home
from souvenance.hermes.configuration import Configuration
from souvenance.hermes.oauth_tokens import alone, lock_of
from souvenance.hermes.setup.console import Abandoned, Console, chosen
from souvenance.hermes.sign_in import flows
from souvenance.hermes.sign_in.flows import Signed
from souvenance.hermes.sign_in.profile import CLOUD, How, consented

SignIn = Callable[..., Signed]
"""As `souvenance.hermes.sign_in.profile.sign_in`."""

_Means = Literal["browser", "code", "key"]
_CHOICES: dict[str, tuple[_Means, str]] = {
    "1": ("browser", "by signing in, in a browser on this machine"),
    "2": ("code", "by signing in on another device, with a code"),
    "3": ("key", "by a key, or not at all"),
}


class SignInDesk:
    """One sign-in in the course of a wizard; whoever leaves before it is written has not signed in."""

    def __init__(
        self,
        console: Console,
        now: Configuration,
        environment: Mapping[str, str],
        sign_in: SignIn | None,
    ) -> None:
        self._console = console
        self._now = now
        self._environment = environment
        self._sign_in = sign_in
        self._signed: Signed | None = None

    @property
    def consented(self) -> dict[str, str]:
        """What was chosen where the sign-in was allowed, by the names of the settings."""
        return consented(self._signed) if self._signed is not None else {}

    def asked(
        self, url: str, before: Configuration | None, how: How | None, *, keyed: bool
    ) -> dict[str, Any] | None:
        """The settings of a sign-in to that server; None for a key, or what there is.

        `before` is of the same server; `how` and `keyed` are what is decided already.
        Raises: Abandoned; SouvenanceError if nobody is there to choose another way.
        """
        if how is not None and keyed:
            raise InvalidInput("a sign-in and a key exclude each other", hint="Give one of them.")
        if self._sign_in is None or keyed or (how is None and not self._console.interactive):
            return None
        known = before is not None and bool(before.api_key or before.oauth)
        default: _Means = "key" if known or url != CLOUD else "browser"
        if before is not None and before.oauth:
            self._console.say("\nThere is a sign-in already; Enter and Enter keep it.")
        while True:
            wanted = self._chosen(default) if how is None else how
            if wanted == "key":
                return None
            try:
                return self._entered(url, wanted, self._sign_in)
            except KeyboardInterrupt:
                raise Abandoned from None
            except SouvenanceError as error:
                if not self._console.interactive or how is not None:
                    raise
                self._console.say(f"  {error.code}: {error.detail}. {error.hint}".rstrip())
                default = "key"

    def _chosen(self, default: _Means) -> _Means:
        return chosen(self._console, "How does it know you?", _CHOICES, default)

    def _entered(self, url: str, how: How, sign_in: SignIn) -> dict[str, Any]:
        self._signed = sign_in(url, self._now, self._environment, say=self._console.say, how=how)
        self._console.say("  Signed in.")
        settings = self._signed.grant.settings()
        if workspace := self.consented.get("workspace"):
            settings["workspace"] = workspace
        return settings

    def alone(self) -> AbstractContextManager[None]:
        """Hold off whoever renews the sign-in that is replaced, while the new one is written."""
        if self._signed is None:
            return contextlib.nullcontext()
        return alone(lock_of(default_home(self._now.home, self._environment)))

    def __enter__(self) -> SignInDesk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and self._signed is not None:
            with contextlib.suppress(SouvenanceError):
                flows.revoke(self._signed.grant)
