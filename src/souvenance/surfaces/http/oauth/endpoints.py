"""The sign-in door's endpoints for programs: tokens, their revocation, device codes, registration."""

from __future__ import annotations

from starlette.responses import Response

from souvenance.gate.oauth_state import OAuthState
from souvenance.surfaces.http.oauth.authorization_server import Authority, Polls
from souvenance.surfaces.http.oauth.registration import register
from souvenance.surfaces.http.oauth.request import OAuthRequest
from souvenance.surfaces.http.oauth.responses import answer, as_json


class Endpoints:
    def __init__(self, reception: OAuthState) -> None:
        self._reception = reception
        self._polls = Polls()

    def token(self, asked: OAuthRequest) -> Response:
        """Raises: SouvenanceError, OAuth2Error."""
        authority = self._authority(asked)
        authority.check_resources(authority.create_oauth2_request(asked))
        return answer(authority.create_token_response(asked))

    def revoke(self, asked: OAuthRequest) -> Response:
        """Raises: SouvenanceError, OAuth2Error."""
        return answer(self._authority(asked).create_endpoint_response("revocation", asked))

    def device(self, asked: OAuthRequest) -> Response:
        """Raises: SouvenanceError, OAuth2Error."""
        return answer(self._authority(asked).create_endpoint_response("device_authorization", asked))

    def register(self, asked: OAuthRequest) -> Response:
        """Raises: SouvenanceError, OAuth2Error."""
        return answer(register(self._reception, asked))

    def refuse(self, error: Exception) -> Response:
        return as_json(error)

    def _authority(self, asked: OAuthRequest) -> Authority:
        return Authority(self._reception, self._polls, asked.issuer)
