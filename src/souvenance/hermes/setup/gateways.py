"""Which gateways of a Hermes profile other people can write to it through."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from souvenance.hermes.setup.host_config import nested, read_settings
from souvenance.hermes.setup.profiles import Profile

_TURNED_ON_BY: Mapping[str, tuple[str, ...]] = {
    "api_server": ("API_SERVER_ENABLED", "API_SERVER_KEY"),
    "bluebubbles": ("BLUEBUBBLES_SERVER_URL BLUEBUBBLES_PASSWORD",),
    "dingtalk": ("DINGTALK_CLIENT_ID DINGTALK_CLIENT_SECRET",),
    "discord": ("DISCORD_BOT_TOKEN",),
    "email": ("EMAIL_ADDRESS EMAIL_PASSWORD",),
    "feishu": ("FEISHU_APP_ID FEISHU_APP_SECRET",),
    "google_chat": ("GOOGLE_CHAT_SERVICE_ACCOUNT_JSON", "GOOGLE_CHAT_HTTP_EVENTS_URL"),
    "irc": ("IRC_SERVER IRC_CHANNEL",),
    "line": ("LINE_CHANNEL_ACCESS_TOKEN",),
    "matrix": ("MATRIX_ACCESS_TOKEN", "MATRIX_PASSWORD"),
    "mattermost": ("MATTERMOST_TOKEN",),
    "qqbot": ("QQ_APP_ID QQ_CLIENT_SECRET",),
    "signal": ("SIGNAL_HTTP_URL SIGNAL_ACCOUNT",),
    "simplex": ("SIMPLEX_WS_URL",),
    "slack": ("SLACK_BOT_TOKEN",),
    "sms": ("TWILIO_ACCOUNT_SID",),
    "teams": ("TEAMS_CLIENT_ID TEAMS_CLIENT_SECRET",),
    "telegram": ("TELEGRAM_BOT_TOKEN",),
    "wecom": ("WECOM_BOT_ID WECOM_SECRET",),
    "wecom_callback": ("WECOM_CALLBACK_CORP_ID WECOM_CALLBACK_CORP_SECRET",),
    "weixin": ("WEIXIN_TOKEN WEIXIN_ACCOUNT_ID",),
    "whatsapp": ("WHATSAPP_ENABLED",),
    "whatsapp_cloud": ("WHATSAPP_CLOUD_PHONE_NUMBER_ID WHATSAPP_CLOUD_ACCESS_TOKEN",),
    "yuanbao": ("YUANBAO_APP_ID YUANBAO_APP_SECRET",),
}
"""What turns a platform on: any of these sets of variables."""

_WITHOUT_PEOPLE = {"local", "webhook", "msgraph_webhook", "homeassistant"}
_OFF = {"", "0", "false", "no", "off"}


def gateways(profile: Profile, environment: Mapping[str, str]) -> list[str]:
    """The names of those that are configured, in Hermes' files or in its environment."""
    said = _said(profile)
    named = {name for name, on in said.items() if on}
    turned_on = {name for name in _TURNED_ON_BY if name not in said and _turned_on(name, environment)}
    return sorted((named | turned_on) - _WITHOUT_PEOPLE)


def _turned_on(name: str, environment: Mapping[str, str]) -> bool:
    return any(
        all(_is_on(environment.get(variable, "")) for variable in variables.split())
        for variables in _TURNED_ON_BY[name]
    )


def _said(profile: Profile) -> dict[str, bool]:
    """What the files say outright about a platform. The later places win, as they do for Hermes."""
    settings = read_settings(profile.settings)
    places = (
        nested(_legacy(profile), ["platforms"]),
        nested(settings, ["gateway", "platforms"]),
        nested(settings, ["platforms"]),
        {name: settings.get(name) for name in _TURNED_ON_BY},
    )
    return {
        name: _is_on(enabled)
        for place in places
        if isinstance(place, Mapping)
        for name in place
        if (enabled := nested(place, [name, "enabled"])) is not None
    }


def _is_on(value: Any) -> bool:
    return str(value).strip().lower() not in _OFF


def _legacy(profile: Profile) -> Any:
    try:
        return json.loads((profile.home / "gateway.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
