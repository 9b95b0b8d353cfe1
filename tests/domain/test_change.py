"""Signs that something is no longer as it was."""

from __future__ import annotations

import pytest

from mnemon.domain.change import has_changed, is_so_now


@pytest.mark.parametrize(
    "said",
    [
        "we moved to york",
        "the gym put its fee up to 32 pounds",
        "the exam was brought forward",
        "marcus and i split up",
        "i handed in my notice",
        "we no longer deploy on fridays",
        "der vermieter hat die miete erhöht",
        "ich rauche nicht mehr",
        "le médecin a reporté mon rendez-vous",
        "je ne fume plus",
        "nos mudamos a valencia",
        "o voo foi adiado",
        "房东把房租涨到了三千五",
        "会議は水曜日に変更になりました",
    ],
)
def test_a_verb_tells_of_a_change(said):
    assert has_changed(said)
    assert is_so_now(said)


@pytest.mark.parametrize(
    "said", ["these days i drink tea", "i am up to ten", "ahora vivo en vigo", "我现在喝茶"]
)
def test_what_is_said_to_be_so_now_need_not_be_a_change(said):
    assert is_so_now(said)
    assert not has_changed(said)


@pytest.mark.parametrize(
    "said", ["i live in york", "up on the hill", "je veux plus de café", "我住在上海", ""]
)
def test_what_is_only_so_is_no_change(said):
    assert not is_so_now(said)
