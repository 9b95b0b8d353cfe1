"""Passkeys as browsers speak of them (WebAuthn): what is asked of a browser, and whether its answer holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from starlette.requests import Request

from souvenance.errors import Denied
from souvenance.http_client import is_loopback

if TYPE_CHECKING:
    from fido2.server import Fido2Server
    from fido2.webauthn import AuthenticationResponse

_LOCALHOST = "localhost"


class PasskeySite(Struct, frozen=True):
    """Where passkeys belong: the name that browsers bind them to, and the one origin they may be used at."""

    name: str
    origin: str


class PasskeyResponse(Struct, frozen=True):
    """What a browser answered, once its signature was checked."""

    credential: bytes
    challenge: bytes
    public_key: bytes
    counter: int


def passkey_site(request: Request, public_url: str | None) -> PasskeySite | None:
    """None where browsers offer no passkeys: at an address without a name, or without TLS."""
    here = urlsplit(str(request.base_url))
    there = urlsplit(public_url) if public_url and here.hostname != _LOCALHOST else here
    name = there.hostname or ""
    if (there.scheme != "https" and name != _LOCALHOST) or _is_address(name):
        return None
    return PasskeySite(name, f"{there.scheme}://{there.netloc}")


def named_origin(request: Request) -> str | None:
    """The same server under the name that passkeys need, if this is a loopback address."""
    here = urlsplit(str(request.base_url))
    name = here.hostname or ""
    if not _is_address(name) or not is_loopback(name):
        return None
    return f"{here.scheme}://{_LOCALHOST}" + (f":{here.port}" if here.port else "")


def offered(request: Request, public_url: str | None) -> dict[str, Any]:
    """What a page says of passkeys: whether they work here, and else at which address of this machine."""
    here = passkey_site(request, public_url) is not None
    return {"here": here, "localhost": None if here else named_origin(request)}


def creation_options(site: PasskeySite, challenge: bytes, person: str) -> dict[str, Any]:
    """What a browser is asked to make: a passkey that knows who it is for, and verifies them."""
    from fido2.webauthn import (
        PublicKeyCredentialUserEntity,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    options, _ = _server(site).register_begin(
        PublicKeyCredentialUserEntity(id=challenge, name=person, display_name=person),
        resident_key_requirement=ResidentKeyRequirement.REQUIRED,
        user_verification=UserVerificationRequirement.REQUIRED,
        challenge=challenge,
    )
    return dict(options)


def request_options(site: PasskeySite, challenge: bytes) -> dict[str, Any]:
    from fido2.webauthn import UserVerificationRequirement

    options, _ = _server(site).authenticate_begin(
        user_verification=UserVerificationRequirement.REQUIRED, challenge=challenge
    )
    return dict(options)


@contextmanager
def _from_strangers() -> Iterator[None]:
    """Raises: Denied for whatever is wrong with a browser's answer."""
    try:
        yield
        return
    except Exception as error:  # noqa: BLE001 - strangers send these bytes, and the library raises many kinds
        trouble = error
    raise Denied("the browser's answer is not that of a passkey of this site", hint="Try again.") from trouble


@_from_strangers()
def added(site: PasskeySite, response: str) -> PasskeyResponse:
    """The new passkey of a browser's answer. Raises: Denied."""
    from fido2.webauthn import RegistrationResponse

    answer = RegistrationResponse.from_dict(msgspec.json.decode(response))
    client_data = answer.response.client_data
    made = _server(site).register_complete(_state(client_data), answer)
    if made.credential_data is None:
        raise ValueError("it names no key")
    credential = made.credential_data
    return PasskeyResponse(credential.credential_id, client_data.challenge, bytes(credential), made.counter)


@_from_strangers()
def credential_of(response: str) -> bytes:
    """The id of the passkey that signed, as it says. Raises: Denied."""
    return _assertion(response).raw_id


@_from_strangers()
def signed(site: PasskeySite, response: str, public_key: bytes) -> PasskeyResponse:
    """The signature, if it was made with that key. Raises: Denied."""
    from fido2.webauthn import AttestedCredentialData

    answer = _assertion(response)
    client_data = answer.response.client_data
    _server(site).authenticate_complete(_state(client_data), [AttestedCredentialData(public_key)], answer)
    counter = answer.response.authenticator_data.counter
    return PasskeyResponse(answer.raw_id, client_data.challenge, public_key, counter)


def _assertion(response: str) -> AuthenticationResponse:
    from fido2.webauthn import AuthenticationResponse

    found: AuthenticationResponse = AuthenticationResponse.from_dict(msgspec.json.decode(response))
    return found


def _state(client_data: Any) -> dict[str, Any]:
    """What the library compares with. That the challenge is one of ours, and new, the gate says.

    Raises: ValueError.
    """
    from fido2.utils import websafe_encode
    from fido2.webauthn import UserVerificationRequirement

    if client_data.cross_origin:
        raise ValueError("it was signed in a frame of another site")
    return {
        "challenge": websafe_encode(client_data.challenge),
        "user_verification": UserVerificationRequirement.REQUIRED,
    }


def _server(site: PasskeySite) -> Fido2Server:
    """Loaded when the first passkey is used: it takes a tenth of a second, and most servers never need it."""
    from fido2.server import Fido2Server
    from fido2.webauthn import PublicKeyCredentialRpEntity

    party = PublicKeyCredentialRpEntity(id=site.name, name="Souvenance")
    return Fido2Server(party, verify_origin=lambda origin: origin == site.origin)


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()
