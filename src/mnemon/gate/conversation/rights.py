"""What a cap may do in conversations: by the narrowest thing that it names.

    the installation's own cap     everything, in every workspace
    a cap of a workspace           everything in it
    a cap of peers                 those peers' own views, and reading the sessions they are in
    a cap of sessions              those sessions, and only what was concluded in them

A cap of peers and sessions writes to those sessions in the name of those peers. What a cap may not
reach and what is not there are refused alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from mnemon.core.conversation.directory import find, members
from mnemon.core.conversation.place import NAMESPACE
from mnemon.core.desk import Desk
from mnemon.domain.cap import Grant
from mnemon.domain.names import ALL
from mnemon.errors import CapOpMismatch, CapScopeMismatch, NamespaceDenied


class Rights:
    def __init__(self, desk: Desk, grant: Grant) -> None:
        self._desk = desk
        self._grant = grant

    @property
    def everywhere(self) -> bool:
        return ALL in self._grant.peers and self._grant.sessions is None

    @property
    def observers(self) -> Collection[str] | None:
        """Whose conclusions may be read; None for everyone's."""
        return None if ALL in self._grant.peers else {self._grant.actor, *self._grant.peers}

    @property
    def sessions(self) -> frozenset[str] | None:
        """The sessions that the cap is limited to."""
        return self._grant.sessions

    def operator(self) -> None:
        """Raises: CapScopeMismatch."""
        if not self._grant.operates:
            raise CapScopeMismatch("only the installation's own cap may do this")

    def workspace(self) -> None:
        """Raises: CapScopeMismatch."""
        if not self.everywhere:
            raise CapScopeMismatch("the cap does not reach the whole workspace")

    def namespace(self) -> None:
        """Raises: NamespaceDenied if the cap does not open what conversations lie in."""
        if not self._grant.namespaces & {ALL, NAMESPACE}:
            raise NamespaceDenied("the cap does not open every namespace of this request")

    def peer(self, *names: str | None) -> None:
        """Raises: CapScopeMismatch."""
        if self._grant.sessions is not None:
            raise CapScopeMismatch("the cap is limited to sessions")
        for name in names:
            if name is not None and not self._grant.reaches(name):
                raise CapScopeMismatch("the cap does not reach that peer")

    def writes(self, session: str, authors: Iterable[str] = ()) -> None:
        """Raises: CapScopeMismatch."""
        if not self.everywhere and session not in (self._grant.sessions or ()):
            raise CapScopeMismatch("the cap may not write to that session")
        for author in authors:
            if not self._grant.reaches(author):
                raise CapScopeMismatch("the cap does not reach that peer")

    def reads(self, session: str) -> None:
        """Raises: CapScopeMismatch."""
        if self.everywhere or session in (self._grant.sessions or ()):
            return
        if self._grant.sessions is None and any(
            self._grant.reaches(peer) for peer in members(self._desk, session)
        ):
            return
        raise CapScopeMismatch("the cap does not reach that session")

    def known(self, kind: str, name: str) -> bool:
        return find(self._desk, kind, name) is not None

    def puts(self) -> None:
        """Raises: CapOpMismatch for a cap that only reads."""
        if "put" not in self._grant.ops:
            raise CapOpMismatch("the cap does not grant 'put'")
