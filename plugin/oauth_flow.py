# Placed by 'souvenance hermes install', which also renews and removes it.
"""Signing in from Hermes' desktop: newer hosts look for it here, by these names."""

from typing import Any


def start_loopback_flow_background() -> dict[str, Any]:
    from souvenance.plugin import start_sign_in

    return start_sign_in()


def get_flow_status() -> dict[str, Any]:
    from souvenance.plugin import sign_in_status

    return sign_in_status()
