"""What a request reaches for, held against what a grant allows. No I/O, no model, no judgement:
equality and membership only."""

from __future__ import annotations

from msgspec import Struct

from souvenance import errors as e
from souvenance.domain.capability import Grant
from souvenance.domain.names import ALL, DEFAULT_WORKSPACE


class Need(Struct, frozen=True):
    """What an operation needs of any cap, whatever its request says."""

    op: str | None
    data_class: str = "memory"
    operator: bool = False


class Reach(Struct, frozen=True, gc=False):
    """What one request reaches for. None means: as far as the grant goes."""

    namespaces: tuple[str, ...] | None = None
    actor: str | None = None
    workspace: str | None = None
    session: str | None = None
    writes_line: bool = False
    whole_compartments: bool = False
    some_compartment: bool = False
    """Whether it is for those alone who open any namespace at all."""


class Scope(Struct, frozen=True, gc=False):
    """Where the work may look and write, and nowhere else. None means: everything of that owner."""

    workspace: str
    owner: str
    namespaces: frozenset[str] | None
    sessions: frozenset[str] | None

    def opens(self, namespace: str) -> bool:
        return self.namespaces is None or namespace in self.namespaces

    def sees(self, session: str | None) -> bool:
        return self.sessions is None or session in self.sessions


def check_need(grant: Grant, need: Need) -> None:
    """Raises: CapOpMismatch, CapDataClassMismatch, CapScopeMismatch."""
    if need.op is not None and need.op not in grant.ops:
        raise e.CapOpMismatch(f"the cap does not grant {need.op!r}")
    if grant.data_class not in (need.data_class, ALL):
        raise e.CapDataClassMismatch(f"the cap is not of data class {need.data_class!r}")
    if need.operator and not grant.operates:
        raise e.CapScopeMismatch("only the installation's own cap may do this")


def check_reach(grant: Grant, reach: Reach) -> Scope:
    """The scope of the work. Raises: CapScopeMismatch, NamespaceDenied."""
    home = DEFAULT_WORKSPACE if grant.workspace == ALL else grant.workspace
    workspace = reach.workspace or home
    if grant.workspace not in (ALL, workspace):
        raise e.CapScopeMismatch("the cap is of another workspace")
    owner = reach.actor or grant.actor
    if not grant.reaches(owner):
        raise e.CapScopeMismatch("the cap does not reach that actor")
    if grant.sessions is not None:
        outside = reach.session not in grant.sessions if reach.writes_line else False
        if outside or reach.whole_compartments:
            raise e.CapScopeMismatch("the cap is limited to other sessions")
    return Scope(workspace, owner, _namespaces(grant, reach), grant.sessions)


def _namespaces(grant: Grant, reach: Reach) -> frozenset[str] | None:
    everything = ALL in grant.namespaces
    if reach.namespaces is None:
        if reach.some_compartment and not grant.namespaces:
            raise e.NamespaceDenied("the cap opens no namespace")
        return None if everything else grant.namespaces
    asked = frozenset(reach.namespaces)
    if everything and ALL in asked:
        return None
    if not everything and not asked <= grant.namespaces:
        raise e.NamespaceDenied("the cap does not open every namespace of this request")
    return asked
