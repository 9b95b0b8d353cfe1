"""A cap that is wrong in two ways gets the code of the earlier check."""

from __future__ import annotations

from itertools import combinations

import pytest

from gate.world import World
from souvenance.domain.limits import Limits
from souvenance.errors import InvalidInput
from souvenance.gate import messages as m
from souvenance.gate import operations as o


class Attempt:
    """A put that would succeed, until something about it is spoiled."""

    def __init__(self):
        self.world = World(limits=Limits(requests_per_minute=1, line_bytes=100))
        self.claims = {"jti": self.world.ulid()}
        self.put = {"text": "Trip to Chengdu", "namespace": "travel"}
        self.unreadable = False
        self.bearer = True
        self.mangle = []

    def request(self):
        if self.unreadable:
            raise InvalidInput("not to be read")
        return m.Put(**self.put)

    def code(self):
        cap = self.world.issue(**self.claims)
        token = cap.token if self.bearer else cap.bound
        for mangle in self.mangle:
            token = mangle(token)
        return self.world.code(o.PUT, token, self.request)


def without_cap(attempt):
    attempt.mangle.append(lambda token: None)


def malformed(attempt):
    attempt.mangle.append(lambda token: token and token.replace(".", "..", 1))


def badly_signed(attempt):
    def flip(token):
        head, payload, rest = token.split(".", 2)
        return f"{head}.{payload}.{'B' if rest[0] == 'A' else 'A'}{rest[1:]}"

    attempt.mangle.insert(0, flip)


def expired(attempt):
    attempt.claims["exp"] = attempt.world.seconds


def revoked(attempt):
    attempt.world.revoke("jti", attempt.claims["jti"])


def unproved(attempt):
    attempt.bearer = False


def without_the_right(attempt):
    attempt.claims["ops"] = ["get"]


def of_another_class(attempt):
    attempt.claims["data_class"] = "config"


def unreadable(attempt):
    attempt.unreadable = True


def of_another_session(attempt):
    attempt.claims["sessions"] = ["s1"]


def of_another_compartment(attempt):
    attempt.claims["namespaces_allowed"] = ["work"]


def too_often(attempt):
    attempt.world.call(o.WHOAMI, attempt.world.issue(jti=attempt.claims["jti"]), m.Nothing())


def too_long(attempt):
    attempt.put["text"] = "x" * 101


ORDER = {
    "cap_missing": without_cap,
    "cap_malformed": malformed,
    "cap_sig_invalid": badly_signed,
    "cap_expired": expired,
    "cap_revoked": revoked,
    "cap_pop_invalid": unproved,
    "cap_op_mismatch": without_the_right,
    "cap_data_class_mismatch": of_another_class,
    "invalid_input": unreadable,
    "cap_scope_mismatch": of_another_session,
    "namespace_denied": of_another_compartment,
    "rate_limited": too_often,
    "line_too_long": too_long,
}


def test_an_attempt_that_nothing_spoils_is_let_through():
    assert Attempt().code() == "ok"


@pytest.mark.parametrize("code", ORDER)
def test_each_fault_alone_has_its_own_code(code):
    attempt = Attempt()
    ORDER[code](attempt)
    assert attempt.code() == code


@pytest.mark.parametrize(("earlier", "later"), list(combinations(ORDER, 2)))
def test_of_two_faults_the_earlier_is_told(earlier, later):
    attempt = Attempt()
    # The rate is spent first, while the cap of the same id is still good.
    for code in sorted((earlier, later), key=lambda code: code != "rate_limited"):
        ORDER[code](attempt)
    assert attempt.code() == earlier


def test_with_every_fault_at_once_each_repair_uncovers_the_next():
    told = []
    for first in range(len(ORDER)):
        attempt = Attempt()
        faults = list(ORDER.values())[first:]
        for spoil in sorted(faults, key=lambda fault: fault is not too_often):
            spoil(attempt)
        told.append(attempt.code())
    assert told == list(ORDER)


@pytest.mark.parametrize("code", list(ORDER)[:8])
def test_a_request_is_not_even_read_before_its_cap_is_admitted(code):
    attempt, reads = Attempt(), []
    ORDER[code](attempt)
    attempt.request = lambda: reads.append("read")
    assert attempt.code() == code
    assert reads == []
