"""Whose memory a conversation is about, and where its messages are stored."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from souvenance.agents.recalled import AI, USER

Agent = Literal["speaks", "looks", "absent"]
"""What the agent may do in memory: speak and look, look at what it knows, or nothing."""


class Flags(Struct, frozen=True, rename="camel"):
    """What a peer takes part in as an observer and as the observed."""

    observe_me: bool = True
    observe_others: bool = True


class Observation(Struct, frozen=True):
    user: Flags = Flags()
    ai: Flags = Flags()


class Namespaces(Struct, frozen=True):
    """What the provider may read, and the one namespace that it may write to; None for none."""

    read: tuple[str, ...] = ("default",)
    write: str | None = "default"

    @property
    def need_a_gate(self) -> bool:
        """Whether a server has to tell namespaces apart for it."""
        return not {*self.read, self.write} <= {"default", None}


class ConversationScope(Struct, frozen=True):
    workspace: str
    session: str
    user: str
    ai: str
    personal: bool
    """Whether the profile's owner is the only one who speaks here."""
    alone: bool = False
    """Whether there is nobody else at all; then all that the agent knows of itself is this person's too."""
    observation: Observation = Observation()
    namespaces: Namespaces = Namespaces()
    agent: Agent = "speaks"
    """As far as the token goes that memory is asked with."""

    @property
    def observer(self) -> str:
        """Who holds the view of the user: the agent, unless it observes no one."""
        return self.ai if self.observation.ai.observe_others and self.agent != "absent" else self.user

    @property
    def written(self) -> str | None:
        """The namespace that a write names: none for the one that any door writes to."""
        return None if self.namespaces.write == "default" else self.namespaces.write

    @property
    def reads_back(self) -> bool:
        return self.namespaces.write in self.namespaces.read

    def named(self, peer: str) -> str:
        """The name of a peer that a caller may have called by its part."""
        return {USER: self.user, AI: self.ai}.get(peer, peer)

    def views(self, peer: str) -> tuple[str, str]:
        """Observer and observed, for what is known of a peer."""
        name = self.named(peer)
        return (self.ai, self.ai) if name == self.ai else (self.observer, name)
