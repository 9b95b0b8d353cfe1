"""A pattern is compiled when it is first used, and every one in the house can be."""

import importlib
import pkgutil
import re

import souvenance
from souvenance.patterns import _Deferred, pattern


def test_it_matches_as_a_compiled_one_does():
    deferred, compiled = (make(r"(?P<word>[a-c]+)\d", re.IGNORECASE) for make in (pattern, re.compile))
    for text in ("xABc1y", "", "abc", "a1b2"):
        assert deferred.sub("-", text) == compiled.sub("-", text)
        assert deferred.findall(text) == compiled.findall(text)
        assert bool(deferred.search(text)) == bool(compiled.search(text))
    assert deferred.pattern == compiled.pattern


def test_nothing_is_compiled_before_the_first_use():
    made = pattern("(")
    try:
        made.match("(")
    except re.error:
        return
    raise AssertionError("an unreadable pattern matched")


def test_every_deferred_pattern_of_the_installation_can_be_compiled():
    found = 0
    for module in pkgutil.walk_packages(souvenance.__path__, "souvenance."):
        if module.name.endswith(("__main__", "entry.souvenance.config_schema")) or module.name.startswith(
            "souvenance.integrations."
        ):  # They need their host or framework.
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, _Deferred):
                assert isinstance(value.pattern, str), f"{module.name}.{name}"
                found += 1
    assert found > 20
