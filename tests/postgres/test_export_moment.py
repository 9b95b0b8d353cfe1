"""An export from PostgreSQL is of one moment, too."""

from __future__ import annotations

from portable.moments import check_one_moment, mine


def test_what_is_written_meanwhile_is_in_all_of_it_or_in_none(home, url):
    with mine(home, SOUVENANCE_STORE=url) as me, mine(home, SOUVENANCE_STORE=url) as other:
        check_one_moment(me, other)
