"""Dynamic client registration (RFC 7591): open to everyone, which is why it gives nobody anything."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from authlib.oauth2.rfc7591 import (
    ClientRegistrationEndpoint,
    InvalidClientMetadataError,
    InvalidRedirectURIError,
)
from msgspec import Meta, Struct

from souvenance.decoders import UNREADABLE, settled
from souvenance.domain.oauth import may_redirect
from souvenance.domain.sign_ins import AUTH_METHODS, CODE_GRANT, GRANTS, PUBLIC, SCOPES, Client, hash_of
from souvenance.gate.oauth_state import OAuthState
from souvenance.surfaces.http.oauth.authorization_server import Answered
from souvenance.surfaces.http.oauth.request import OAuthRequest

_UNNAMED = "A program without a name"

_Told = dict[str, Any]


class _Wanted(Struct, frozen=True, omit_defaults=True):
    """What a client says of itself, as far as it matters here."""

    redirect_uris: Annotated[tuple[str, ...], Meta(max_length=10)] = ()
    token_endpoint_auth_method: str = "client_secret_basic"  # noqa: S105 - the name of a method
    grant_types: Annotated[tuple[str, ...], Meta(max_length=20)] = (CODE_GRANT,)
    client_name: Annotated[str, Meta(max_length=200)] = ""
    scope: Annotated[str, Meta(max_length=200)] = ""


def register(reception: OAuthState, asked: OAuthRequest) -> Answered:
    """Raises: SouvenanceError, OAuth2Error."""
    endpoint = _Registration(reception)
    answered: Answered = endpoint(_Registering(asked))
    return answered


class _Registering:
    """The request, as Authlib asks about it."""

    def __init__(self, asked: OAuthRequest) -> None:
        self.payload = self
        self.credential = None
        try:
            wanted = msgspec.json.decode(asked.body, type=settled(_Wanted))
        except UNREADABLE:
            raise InvalidClientMetadataError("The metadata can not be read.") from None
        self.data: _Told = {
            name: getattr(wanted, name) for name in wanted.__struct_fields__ if getattr(wanted, name)
        }


class _Registration(ClientRegistrationEndpoint):
    def __init__(self, reception: OAuthState) -> None:
        super().__init__()
        self._reception = reception

    def authenticate_token(self, request: _Registering) -> bool:
        return True

    def get_server_metadata(self) -> _Told:
        return {"scopes_supported": SCOPES, "token_endpoint_auth_methods_supported": AUTH_METHODS}

    def extract_client_metadata(self, request: _Registering) -> _Told:
        """What is registered: what was asked for, without what there is not here."""
        metadata: _Told = super().extract_client_metadata(request)
        redirects = metadata.get("redirect_uris", [])
        if not all(map(may_redirect, redirects)):
            raise InvalidRedirectURIError("It must be https, a loopback address or a scheme of your own.")
        grants = [grant for grant in metadata["grant_types"] if grant in GRANTS]
        if not grants or (CODE_GRANT in grants and not redirects):
            raise InvalidClientMetadataError("It needs a known grant type, and for codes a redirect.")
        return {
            **metadata,
            "client_name": metadata.get("client_name") or _UNNAMED,
            "grant_types": grants,
            "response_types": ["code"] if CODE_GRANT in grants else [],
        }

    def generate_client_info(self, request: _Registering) -> _Told:
        info: _Told = {
            "client_id": self._reception.secret(),
            "client_id_issued_at": self._reception.now() // 1000,
        }
        if request.data["token_endpoint_auth_method"] != PUBLIC:
            info |= {"client_secret": self._reception.secret(), "client_secret_expires_at": 0}
        return info

    def save_client(self, client_info: _Told, client_metadata: _Told, request: Any) -> Client:
        secret = client_info.get("client_secret")
        client = Client(
            id=client_info["client_id"],
            name=client_metadata["client_name"],
            redirects=tuple(client_metadata.get("redirect_uris", ())),
            grants=tuple(client_metadata["grant_types"]),
            auth=client_metadata["token_endpoint_auth_method"],
            secret=None if secret is None else hash_of(secret),
            created_at=self._reception.now(),
        )
        self._reception.register(client)
        return client
