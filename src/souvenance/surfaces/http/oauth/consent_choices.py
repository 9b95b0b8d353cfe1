"""What the consent page offers, never more than the cap of whoever decides, and what they chose of it."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from souvenance.domain import names
from souvenance.domain.names import ALL, DEFAULT_WORKSPACE
from souvenance.domain.sign_ins import BUILT_IN, PRESETS, READ, REQUEST_MS, WRITE, Client, Preset
from souvenance.errors import InvalidInput
from souvenance.gate.messages import WhoAmIAnswer
from souvenance.gate.oauth_state import Chosen
from souvenance.surfaces.http.oauth.pages import Consent
from souvenance.surfaces.http.oauth.request import OAuthRequest

_HOUR = 3600
_DAY = 24 * _HOUR
_ENDS = (
    ("One hour", _HOUR),
    ("One day", _DAY),
    ("30 days", 30 * _DAY),
    ("90 days", 90 * _DAY),
    ("One year", 365 * _DAY),
)
_USUAL_END = 90 * _DAY
_WHAT_IS_LEFT = 0
"""In the place of seconds: until the cap of whoever decides ends, whenever they do decide."""
_MOST_SHOWN = 200


class OfferedNamespace(Struct, frozen=True, kw_only=True):
    """Where the answer of a request goes, and what its client says of itself."""

    where: str
    action: str
    leads_to: str = ""
    source: str | None = None
    config_path: str | None = None


class Offer(Struct, frozen=True, kw_only=True):
    client: Client
    who: WhoAmIAnswer
    scope: str
    """What the client asks for; empty if it does not say."""
    now: int
    hint: str = ""
    """Whose memory the client means, in its own words."""

    @property
    def writes(self) -> bool:
        asked = self.scope.split()
        return "put" in self.who.ops and (not asked or WRITE in asked)

    @property
    def everyone(self) -> bool:
        """Whether it may be let in for everyone in the workspace."""
        return self._preset.everyone and ALL in self.who.peers and self.who.sessions is None

    @property
    def ends(self) -> tuple[tuple[str, int], ...]:
        within = tuple((label, seconds) for label, seconds in _ENDS if seconds <= self._left)
        return within or (("As long as your own cap", _WHAT_IS_LEFT),)

    @property
    def usual(self) -> Chosen:
        """What is proposed."""
        wid = self.who.wid
        return Chosen(
            workspace=wid if wid != ALL else self._preset.workspace or DEFAULT_WORKSPACE,
            peer=self._usual_peer(),
            namespaces=self._usual_namespaces(),
            access="write" if self.writes else "read",
            seconds=max((end for _, end in self.ends if end <= _USUAL_END), default=self.ends[0][1]),
            everyone=self.everyone,
        )

    def chosen(self, asked: OAuthRequest) -> Chosen:
        """What the form says. The gate holds it against the cap. Raises: InvalidInput."""
        access = asked.get("access")
        if access not in (READ, WRITE) or (access == WRITE and not self.writes):
            raise InvalidInput("'access' must be one of those offered")
        if asked.get("end") not in self._offered:
            raise InvalidInput("'end' must be one of those offered")
        found = self.posted(asked)
        names.name(found.workspace, "workspace")
        namespaces = _named(asked)
        if not namespaces:
            raise InvalidInput("name at least one namespace")
        return replace(found, namespaces=namespaces, seconds=min(found.seconds or self._left, self._left))

    def posted(self, asked: OAuthRequest) -> Chosen:
        """What the form says as far as it was offered, to be shown again."""
        usual, access, end = self.usual, asked.get("access"), asked.get("end")
        opened = self.who.namespaces_allowed
        return Chosen(
            workspace=asked.get("workspace").strip(),
            peer=asked.get("peer").strip(),
            namespaces=tuple(name for name in _named(asked) if ALL in opened or name in opened),
            access="write" if access == WRITE and self.writes else "read",
            seconds=int(end) if end in self._offered else usual.seconds,
            everyone=self.everyone and asked.get("everyone") == "yes",
        )

    def view(
        self, chosen: Chosen, place: OfferedNamespace, *, csrf: str, request: str, sign_out: str | None
    ) -> Consent:
        return Consent(
            client=self.client.name,
            client_id=self.client.id,
            source=_cut(place.source),
            where=place.where,
            config_path=_cut(place.config_path),
            signed_in_as=self.who.sub,
            workspaces=() if self.who.wid == ALL else (self.who.wid,),
            workspace=chosen.workspace,
            peer=chosen.peer,
            peer_fixed=not self.who.peers,
            namespaces=tuple(self.who.namespaces_allowed),
            chosen=chosen.namespaces,
            access=chosen.access,
            write_offered=self.writes,
            ends=self.ends,
            end=chosen.seconds,
            csrf=csrf,
            request=request,
            action=place.action,
            registered=self.client.id not in BUILT_IN,
            everyone_offered=self.everyone,
            everyone=chosen.everyone,
            sign_out=sign_out,
        )

    @property
    def _left(self) -> int:
        """Of the cap, in seconds."""
        return max(1, self.who.exp - self.now // 1000)

    @property
    def _offered(self) -> set[str]:
        """The ends that are offered, or were when the page was made."""
        then = self._left + REQUEST_MS // 1000
        return {str(seconds) for _, seconds in (*self.ends, *_ENDS) if seconds <= then}

    @property
    def _preset(self) -> Preset:
        return PRESETS.get(self.client.id, Preset())

    def _usual_peer(self) -> str:
        """Whom the client means, if the cap reaches anybody of that name."""
        reached = ALL in self.who.peers or self.hint in self.who.peers
        return self.hint if reached and _is_name(self.hint) else self.who.sub

    def _usual_namespaces(self) -> tuple[str, ...]:
        opened = self.who.namespaces_allowed
        if ALL in opened:
            return self._preset.namespaces
        return tuple(name for name in self._preset.namespaces if name in opened) or tuple(opened)


def _named(asked: OAuthRequest) -> tuple[str, ...]:
    """The namespaces of the form, each once."""
    named = [part.strip() for value in asked.every("namespace") for part in value.split(",")]
    return tuple(dict.fromkeys(name for name in named if name))


def _is_name(text: str) -> bool:
    try:
        return names.actor(text, "login_hint") == text and len(text) <= _MOST_SHOWN
    except InvalidInput:
        return False


def _cut(text: str | None) -> str | None:
    return text[:_MOST_SHOWN] if text else None
