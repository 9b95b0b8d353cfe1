"""Walks the known-bad files: each is refused with the code of the folder that it lies in."""

from __future__ import annotations

import json
from functools import partial

import pytest

from gate.world import FakeClock, MemoryKeyring, SeededEntropy, World, verified
from security.known_bad import make
from souvenance.adapters import key_files
from souvenance.core.request_context import opened
from souvenance.core.vault import CompartmentKeys
from souvenance.domain.line import SealedLine
from souvenance.domain.names import Compartment
from souvenance.domain.seal import key_place
from souvenance.errors import SouvenanceError, WrongKey
from souvenance.gate import messages as m
from souvenance.gate import operations as o

AESGCM = make.AESGCM


def walked(kind):
    return sorted(path for path in (make.HERE / kind).rglob("*") if path.is_file())


CODES = sorted({path.parent.name for path in walked("caps")})


def named(path):
    return f"{path.parent.name}/{path.name}"


class KnownKeyring(MemoryKeyring):
    """The keyring that the known-bad caps were, or should have been, made with."""

    instance = make.INSTANCE

    def rotate_signer(self):
        self._kid = make.KID
        self._signers[self._kid] = make.ISSUER


def code_of(read):
    try:
        read()
    except SouvenanceError as error:
        return error.code
    return "ok"


@pytest.mark.parametrize("code", CODES)
def test_each_cap_gets_its_code_at_the_gate(code):
    known = code not in ("cap_missing", "cap_malformed", "cap_sig_invalid")
    for path in walked(f"caps/{code}"):
        world = World(clock=FakeClock(make.NOW * 1000), keyring=KnownKeyring(SeededEntropy()))
        assert world.code(o.WHOAMI, path.read_text("utf-8"), m.Nothing()) == code, path.name
        assert len(world.rows()) == known, path.name


@pytest.mark.parametrize("code", CODES)
def test_each_cap_gets_the_same_verdict_without_a_gate(code):
    keys = {make.KID: make.ISSUER.public_key()}
    for path in walked(f"caps/{code}"):
        token = path.read_text("utf-8")
        found = code_of(partial(verified, token, keys=keys, audience=make.INSTANCE, now=make.NOW))
        assert found == code.replace("cap_pop_invalid", "ok"), path.name


def sealed_line(path):
    said = json.loads(path.read_text("utf-8"))
    compartment = Compartment(said.pop("workspace"), said.pop("owner"), said.pop("namespace"))
    return SealedLine(**{**said, "compartment": compartment, "sealed": bytes.fromhex(said["sealed"])})


@pytest.mark.parametrize("path", walked("lines"), ids=named)
def test_each_line_opens_or_is_named(path):
    line = sealed_line(path)
    keys = CompartmentKeys(
        line.compartment, {3: AESGCM(make.COMPARTMENT_KEY), 4: AESGCM(make.COMPARTMENT_KEY)}, 4, b""
    )
    try:
        told = opened(line, keys).text
    except SouvenanceError as error:
        assert (error.code, line.id in error.detail) == (path.parent.name, True)
    else:
        assert (path.parent.name, told) == ("ok", make.TEXT)


@pytest.mark.parametrize("path", walked("keys"), ids=named)
def test_each_wrapped_key_opens_or_is_refused(path):
    raw = bytes.fromhex(path.read_text("utf-8"))
    context = key_place(Compartment(**make.COMPARTMENT), "seal", 3)

    def unwrap():
        if key_files.root_id_of(raw) != make.ROOT_ID:
            raise WrongKey("no such root")
        assert key_files.unwrap(raw, root=make.ROOT_KEY, context=context) == make.COMPARTMENT_KEY

    assert code_of(unwrap) == path.parent.name


def test_the_files_are_what_their_script_writes(tmp_path):
    make.write(tmp_path)
    fresh = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    kept = {
        path.relative_to(make.HERE): path.read_bytes()
        for kind in ("caps", "lines", "keys")
        for path in walked(kind)
    }
    assert fresh.keys() == kept.keys()
    assert [name for name in fresh if fresh[name] != kept[name]] == []


def test_there_are_files_of_every_kind():
    counts = {kind: len(walked(kind)) for kind in ("caps", "lines", "keys")}
    assert counts["caps"] > 150
    assert counts["lines"] > 20
    assert counts["keys"] > 10
