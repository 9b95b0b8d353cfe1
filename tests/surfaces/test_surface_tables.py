"""One table a surface, and no error without its row."""

import re

import pytest

from souvenance import errors
from souvenance.errors import SouvenanceError
from souvenance.surfaces.cli.main import EXIT, INTERNAL, INTERRUPTED, exit_of
from souvenance.surfaces.http.client import _BY_CODE
from souvenance.surfaces.http.honcho.door import TEXTS
from souvenance.surfaces.http.honcho.routes import HONCHO_ROUTES, refused_as
from souvenance.surfaces.http.routes import REFUSALS, STATUS, status_of
from surfaces.declared import OPERATIONS


def descendants(kind):
    for child in kind.__subclasses__():
        yield child
        yield from descendants(child)


KINDS = sorted(set(descendants(SouvenanceError)), key=lambda kind: kind.__name__)
EVERY = [kind for kind in KINDS if kind.__module__ == errors.__name__]


def test_there_are_errors_to_look_at():
    assert len(EVERY) > 25


def test_every_error_has_an_http_status():
    for kind in EVERY:
        assert 400 <= status_of(kind) <= 599, kind
        assert any(base in STATUS for base in kind.__mro__ if base is not SouvenanceError), kind


def test_every_error_has_an_exit_code_of_its_own_kind():
    for kind in EVERY:
        assert exit_of(kind) not in (0, INTERNAL, 2, INTERRUPTED), kind
        assert any(base in EXIT for base in kind.__mro__ if base is not SouvenanceError), kind


def test_every_code_is_in_snake_case_and_unique():
    codes = [kind.code for kind in (SouvenanceError, *EVERY)]
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", code) for code in codes)
    assert len(set(codes)) == len(codes)


def test_the_families_have_the_statuses_of_the_design():
    families = {
        errors.InvalidInput: 400,
        errors.Unauthenticated: 401,
        errors.Denied: 403,
        errors.NotFound: 404,
        errors.MethodNotAllowed: 405,
        errors.Conflict: 409,
        errors.BodyTooLarge: 413,
        errors.LineTooLong: 413,
        errors.RateLimited: 429,
        errors.Unavailable: 503,
        errors.IntegrityError: 500,
    }
    apart = {errors.UpstreamUnreachable: 502, errors.ServerBusy: 503}
    for family, status in families.items():
        kinds = {family, *descendants(family)} - set(apart)
        assert {status_of(kind) for kind in kinds} == {status}
    assert {kind: status_of(kind) for kind in apart} == apart


def test_the_families_have_the_exit_codes_of_the_documentation():
    families = {
        errors.InvalidInput: 3,
        errors.Unauthenticated: 4,
        errors.Denied: 5,
        errors.NotFound: 6,
        errors.Conflict: 7,
        errors.LimitExceeded: 8,
        errors.Unavailable: 9,
        errors.IntegrityError: 10,
        errors.Misconfigured: 11,
        errors.Unsupported: 12,
    }
    for family, code in families.items():
        assert {exit_of(kind) for kind in (family, *descendants(family))} == {code}


def test_an_error_outside_the_tree_is_told_as_one_of_the_tree():
    codes = {kind.code for kind in EVERY}
    for kind in set(KINDS) - set(EVERY):
        assert kind.code in codes
        assert kind.code == kind.__mro__[1].code


@pytest.mark.parametrize("kind", [kind for kind in EVERY if kind is not errors.UpstreamUnreachable])
def test_every_error_has_a_status_that_honchos_clients_know(kind):
    assert refused_as(kind) in {400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 431, 500, 503}
    assert refused_as(kind) == {
        errors.HostRefused: 403,
        errors.InvalidInput: 422,
        errors.LineTooLong: 422,
        errors.ConfirmationNeeded: 422,
        errors.MemoryClosed: 422,
        errors.ImportUnreadable: 422,
        errors.ImportUnrecognised: 422,
        errors.ReceiptInvalid: 422,
        errors.LimitExceeded: 400,
        errors.Unsupported: 422,
    }.get(kind, 401 if issubclass(kind, errors.Denied) else status_of(kind))


def test_every_operation_on_conversations_has_one_route():
    assert sorted(route.operation.name for route in HONCHO_ROUTES) == sorted(one.name for one in OPERATIONS)


OF_CAPS = {*descendants(errors.Unauthenticated), *descendants(errors.Denied)}
OF_SIGN_INS = {errors.SignInFailed, *descendants(errors.SignInFailed)}
"""Told by programs that sign in, never by a server."""


@pytest.mark.parametrize("kind", sorted(OF_CAPS - OF_SIGN_INS, key=lambda kind: kind.__name__))
def test_a_refusal_of_a_cap_has_the_text_that_honchos_clients_look_at(kind):
    assert kind is errors.HostRefused or re.match(r"(No access|Invalid|JWT) ", TEXTS[kind])


def test_the_client_knows_every_code_that_the_server_can_answer():
    assert {kind.code for kind in REFUSALS} <= set(_BY_CODE)
    assert all(_BY_CODE[kind.code] is kind for kind in EVERY)


def test_what_may_be_retried_says_so():
    retryable = {kind.__name__ for kind in EVERY if kind.retryable}
    unavailable = {kind.__name__ for kind in EVERY if issubclass(kind, errors.Unavailable)}
    assert retryable == unavailable | {"RateLimited", "ServerBusy", "BodyTimeout"}
