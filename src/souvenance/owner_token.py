"""The owner's token in its file: read, or made where it is missing or ends soon."""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from souvenance.adapters.key_files import KeyFiles
from souvenance.adapters.private_files import exists, read_private, write_private
from souvenance.adapters.system_clock import SystemClock, SystemEntropy
from souvenance.domain import capability, ulid
from souvenance.domain.capability import HolderKey
from souvenance.errors import SouvenanceError
from souvenance.files import locked
from souvenance.gate.tokens import owner_claims

_DAY = 24 * 3600
_OWNER_TTL = 365 * _DAY
_RENEW_BEFORE = 30 * _DAY


def owner_token(path: Path, keyring: KeyFiles, renew: bool) -> str:
    """The token in the file, or a new one if that is missing, ends soon or was signed by an older key."""
    now = SystemClock().now()
    kid, key = keyring.signer()
    if exists(path) and not renew:
        token = read_private(path).strip()
        try:
            claims = capability.authenticate(
                token, keys=keyring.issuers(kid), audience=keyring.instance
            ).blocks[0]
            if capability.key_id(token) == kid and claims.exp > now // 1000 + _RENEW_BEFORE:
                return token
        except SouvenanceError:
            pass  # Not a token of this installation: replaced below.
    secret = Ed25519PrivateKey.generate()
    claims = owner_claims(
        instance=keyring.instance,
        jti=ulid.compose(now, SystemEntropy().take(ulid.ENTROPY_BYTES)),
        now=now // 1000,
        exp=now // 1000 + _OWNER_TTL,
        holder=HolderKey.of(secret.public_key()),
    )
    token = capability.bearer(capability.sign(claims, key=key, kid=kid), secret)
    with locked(path.parent):
        write_private(path, token + "\n")
    return token
