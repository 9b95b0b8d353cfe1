"""The objects' contract as tests, for any implementation of `souvenance.ports.object_store`.

    class TestMyObjects(ObjectsContract):
        @pytest.fixture
        def objects(self) -> Objects:
            return MyObjects()

Each test works under a prefix of its own, so that one store may serve them all.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from secrets import token_hex

import pytest

from souvenance.ports.object_store import MOST_LISTED, Objects

_RACES = 5
_RACERS = 8


class ObjectsContract:
    @pytest.fixture
    def here(self) -> str:
        """A prefix that nobody else uses."""
        return f"t{token_hex(8)}/"

    def test_what_was_put_is_there_whole(self, objects: Objects, here: str) -> None:
        data = bytes(range(256)) * 300
        assert objects.put_if_absent(f"{here}a/b/c", data) is True
        assert objects.get(f"{here}a/b/c") == data

    def test_an_object_may_be_empty(self, objects: Objects, here: str) -> None:
        assert objects.put_if_absent(f"{here}a", b"")
        assert objects.get(f"{here}a") == b""

    def test_what_is_not_there_is_none(self, objects: Objects, here: str) -> None:
        assert objects.get(f"{here}a") is None
        objects.put_if_absent(f"{here}a", b"1")
        assert objects.get(f"{here}a/b") is None

    def test_the_first_who_puts_stays(self, objects: Objects, here: str) -> None:
        assert objects.put_if_absent(f"{here}a", b"first")
        assert objects.put_if_absent(f"{here}a", b"second") is False
        assert objects.get(f"{here}a") == b"first"

    def test_of_many_who_put_at_once_one_wins(self, objects: Objects, here: str) -> None:
        with ThreadPoolExecutor(_RACERS) as racers:
            for race in range(_RACES):
                tries = [f"{race} {number}".encode() for number in range(_RACERS)]
                key = f"{here}race-{race}"
                won = list(racers.map(lambda data, key=key: objects.put_if_absent(key, data), tries))
                assert won.count(True) == 1
                assert objects.get(key) == tries[won.index(True)]

    def test_to_replace_leaves_only_the_new(self, objects: Objects, here: str) -> None:
        objects.replace(f"{here}a", b"first")
        objects.replace(f"{here}a", b"second")
        assert objects.get(f"{here}a") == b"second"
        assert objects.keys(here) == [f"{here}a"]

    def test_what_was_deleted_is_gone_and_may_come_again(self, objects: Objects, here: str) -> None:
        for name in "abc":
            objects.put_if_absent(f"{here}{name}", b"1")
        objects.delete([f"{here}a", f"{here}b", f"{here}never"])
        assert objects.keys(here) == [f"{here}c"]
        assert objects.get(f"{here}a") is None
        assert objects.put_if_absent(f"{here}a", b"again")

    def test_to_delete_nothing_is_no_error(self, objects: Objects, here: str) -> None:
        objects.delete([])
        objects.delete([f"{here}a"])
        objects.delete([f"{here}a"])

    def test_keys_are_those_under_the_prefix_and_no_others(self, objects: Objects, here: str) -> None:
        names = ["a-b/c", "a/B", "a/b", "a/b-c", "a/b=d/e", "a0/b", "ab/c"]
        for name in reversed(names):
            objects.put_if_absent(here + name, b"1")
        assert sorted(objects.keys(here)) == [here + name for name in sorted(names)]
        assert sorted(objects.keys(f"{here}a/")) == [
            here + name for name in sorted(names) if name.startswith("a/")
        ]
        assert objects.keys(f"{here}nothing/") == []

    def test_keys_of_one_folder_come_together_and_in_byte_order(self, objects: Objects, here: str) -> None:
        names = ["a-b/1", "a/1", "a/2", "a/B", "a/b", "a/b-c", "ab/1", "ab/2"]
        for name in reversed(names):
            objects.put_if_absent(here + name, b"1")
        found = [key.removeprefix(here).split("/") for key in objects.keys(here)]
        folders = [folder for folder, _ in groupby(found, key=lambda parts: parts[0])]
        assert sorted(folders) == ["a", "a-b", "ab"]
        assert [name for folder, name in found if folder == "a"] == ["1", "2", "B", "b", "b-c"]

    def test_keys_go_on_after_each_key(self, objects: Objects, here: str) -> None:
        for name in ["a-b/c", "a/B", "a/b", "a/b-c", "ab/c"]:
            objects.put_if_absent(here + name, b"1")
        every = objects.keys(here)
        for number, key in enumerate(every):
            assert objects.keys(here, key) == every[number + 1 :]

    def test_more_keys_than_a_page_holds_are_all_found(self, objects: Objects, here: str) -> None:
        names = [f"{here}{number:05}" for number in range(MOST_LISTED + 7)]
        with ThreadPoolExecutor(_RACERS) as hands:
            list(hands.map(lambda name: objects.put_if_absent(name, b"1"), names))
        found: list[str] = []
        while page := objects.keys(here, found[-1] if found else ""):
            assert len(page) <= MOST_LISTED
            found += page
        assert found == names
        for first in range(0, len(names), MOST_LISTED):
            objects.delete(names[first : first + MOST_LISTED])
        assert objects.keys(here) == []

    @pytest.mark.parametrize(
        "key", ["", "/", "a/", "/a", "a//b", "..", "a/../b", ".a", "a b", "a\nb", "ä", "%2e"]
    )
    def test_what_is_no_key_is_refused(self, objects: Objects, key: str) -> None:
        with pytest.raises(ValueError):
            objects.put_if_absent(key, b"1")
        with pytest.raises(ValueError):
            objects.get(key)
        with pytest.raises(ValueError):
            objects.delete([key])
