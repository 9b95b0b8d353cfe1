"""The keyring's contract as tests, for any implementation of `souvenance.ports.keyring`.

class TestMyKeyring(KeyringContract):
@pytest.fixture
def open_keyring(self, tmp_path: Path) -> Callable[[], Keyring]:
return lambda: MyKeyring(tmp_path)
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from souvenance.errors import IntegrityError, Tampered, WrongKey
from souvenance.ports.keyring import Keyring

KEY = bytes(range(32))
CONTEXT = b"a room, a purpose and an epoch"

OpenKeyring = Callable[[], Keyring]


class KeyringContract:
    """What every keyring promises. Override `open_keyring`."""

    @pytest.fixture
    def open_keyring(self) -> OpenKeyring:
        """Opens the keyring of this test, the same one each time, as another process would."""
        raise NotImplementedError("override the fixture 'open_keyring'")

    @pytest.fixture
    def keyring(self, open_keyring: OpenKeyring) -> Keyring:
        return open_keyring()

    @pytest.fixture
    def second(self, keyring: Keyring, open_keyring: OpenKeyring) -> Keyring:
        """The same keyring, open at the same time."""
        return open_keyring()

    def test_a_wrapped_key_is_unwrapped_in_its_context(self, keyring: Keyring) -> None:
        assert keyring.unwrap(keyring.wrap(KEY, CONTEXT), CONTEXT) == KEY

    def test_a_wrapped_key_does_not_open_in_another_context(self, keyring: Keyring) -> None:
        wrapped = keyring.wrap(KEY, CONTEXT)
        for other in (b"", CONTEXT + b"\0", CONTEXT[:-1]):
            with pytest.raises(WrongKey):
                keyring.unwrap(wrapped, other)

    def test_a_wrapped_key_shows_nothing_of_the_key_and_never_looks_the_same_twice(
        self, keyring: Keyring
    ) -> None:
        wrapped = [keyring.wrap(KEY, CONTEXT) for _ in range(20)]
        assert len(set(wrapped)) == 20
        assert not [one for one in wrapped if KEY[:8] in one]

    def test_an_altered_wrapped_key_does_not_open(self, keyring: Keyring) -> None:
        wrapped = keyring.wrap(KEY, CONTEXT)
        for at in range(len(wrapped) * 8):
            altered = bytearray(wrapped)
            altered[at // 8] ^= 1 << at % 8
            with pytest.raises(IntegrityError):
                keyring.unwrap(bytes(altered), CONTEXT)

    def test_a_wrapped_key_that_was_cut_or_lengthened_does_not_open(self, keyring: Keyring) -> None:
        wrapped = keyring.wrap(KEY, CONTEXT)
        for size in range(len(wrapped)):
            with pytest.raises(IntegrityError):
                keyring.unwrap(wrapped[:size], CONTEXT)
        with pytest.raises(IntegrityError):
            keyring.unwrap(wrapped + b"\0", CONTEXT)

    def test_what_is_no_wrapped_key_is_tampered(self, keyring: Keyring) -> None:
        for junk in (b"", KEY, b"\0" * 100):
            with pytest.raises(Tampered):
                keyring.unwrap(junk, CONTEXT)

    def test_the_same_keys_are_there_when_it_is_opened_again(
        self, keyring: Keyring, open_keyring: OpenKeyring
    ) -> None:
        wrapped = keyring.wrap(KEY, CONTEXT)
        again = open_keyring()
        assert again.unwrap(wrapped, CONTEXT) == KEY
        assert again.instance == keyring.instance
        assert again.signer()[0] == keyring.signer()[0]

    def test_a_new_root_does_not_shut_what_the_old_one_wrapped(
        self, keyring: Keyring, open_keyring: OpenKeyring
    ) -> None:
        wrapped = [keyring.wrap(KEY, CONTEXT)]
        for _ in range(3):
            keyring.add_root()
            wrapped.append(keyring.wrap(KEY, CONTEXT))
        for one in wrapped:
            assert keyring.unwrap(one, CONTEXT) == KEY
            assert open_keyring().unwrap(one, CONTEXT) == KEY

    def test_retired_roots_open_nothing_any_more(self, keyring: Keyring, open_keyring: OpenKeyring) -> None:
        old = keyring.wrap(KEY, CONTEXT)
        keyring.add_root()
        new = keyring.wrap(KEY, CONTEXT)
        keyring.retire_old_roots()
        for held in (keyring, open_keyring()):
            assert held.unwrap(new, CONTEXT) == KEY
            with pytest.raises(WrongKey):
                held.unwrap(old, CONTEXT)

    def test_retiring_without_a_new_root_destroys_nothing(
        self, keyring: Keyring, open_keyring: OpenKeyring
    ) -> None:
        wrapped = keyring.wrap(KEY, CONTEXT)
        keyring.retire_old_roots()
        assert open_keyring().unwrap(wrapped, CONTEXT) == KEY

    def test_a_keyring_opens_what_another_wrapped_under_a_root_made_since(
        self, keyring: Keyring, second: Keyring
    ) -> None:
        keyring.add_root()
        assert second.unwrap(keyring.wrap(KEY, CONTEXT), CONTEXT) == KEY

    def test_a_keyring_wraps_under_the_root_that_another_made_since(
        self, keyring: Keyring, second: Keyring, open_keyring: OpenKeyring
    ) -> None:
        keyring.add_root()
        wrapped = second.wrap(KEY, CONTEXT)
        keyring.retire_old_roots()
        assert open_keyring().unwrap(wrapped, CONTEXT) == KEY

    def test_two_keyrings_may_add_roots_in_turn(
        self, keyring: Keyring, second: Keyring, open_keyring: OpenKeyring
    ) -> None:
        wrapped = []
        for n in range(4):
            one = (keyring, second)[n % 2]
            one.add_root()
            wrapped.append(one.wrap(KEY, CONTEXT))
        assert all(open_keyring().unwrap(one, CONTEXT) == KEY for one in wrapped)

    def test_a_rotation_that_ends_does_not_destroy_the_root_it_gave_to_one_that_has_begun(
        self, keyring: Keyring, second: Keyring, open_keyring: OpenKeyring
    ) -> None:
        keyring.add_root()
        rewrapped = keyring.wrap(KEY, CONTEXT)
        second.add_root()
        keyring.retire_old_roots()
        assert open_keyring().unwrap(rewrapped, CONTEXT) == KEY

    def test_the_signer_is_among_the_issuers(self, keyring: Keyring) -> None:
        kid, key = keyring.signer()
        assert keyring.issuers(kid)[kid] == key.public_key()

    def test_an_unknown_key_is_not_among_the_issuers(self, keyring: Keyring) -> None:
        for kid in ("", "unknown"):
            assert kid not in keyring.issuers(kid)

    def test_caps_of_the_old_signer_are_believed_after_a_rotation(
        self, keyring: Keyring, open_keyring: OpenKeyring
    ) -> None:
        old, old_key = keyring.signer()
        new = keyring.rotate_signer()
        assert new != old
        for held in (keyring, open_keyring()):
            kid, key = held.signer()
            assert kid == new
            assert held.issuers(old)[old] == old_key.public_key()
            assert held.issuers(new)[new] == key.public_key() != old_key.public_key()

    def test_a_new_signer_is_believed_by_a_keyring_that_was_open_before(
        self, keyring: Keyring, second: Keyring
    ) -> None:
        old = second.signer()[0]
        assert old in second.issuers(old)
        new = keyring.rotate_signer()
        assert set(second.issuers(new)) >= {old, new}

    def test_a_keyring_signs_with_the_key_that_another_made_since(
        self, keyring: Keyring, second: Keyring
    ) -> None:
        second.signer()
        assert keyring.rotate_signer() == second.signer()[0]

    def test_a_rotation_keeps_the_name_of_the_installation(
        self, keyring: Keyring, open_keyring: OpenKeyring
    ) -> None:
        name = keyring.instance
        keyring.rotate_signer()
        keyring.add_root()
        keyring.retire_old_roots()
        assert name
        assert keyring.instance == open_keyring().instance == name
