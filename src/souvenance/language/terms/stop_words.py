"""Words that tell no line from another, and those that only tell that a question is one."""

from __future__ import annotations

_STOPPED = """
a about am an and are as at be been but by can did do does for from had has have he her him his how i i'm
if in into is it it's its me my of on or our she so than that the their them then there these they this to too
us was we were what when where which who whom whose why will with would you your
"""
STOP_WORDS = frozenset(_STOPPED.split())
"""Left out of lines and questions alike."""

_ASKING = """
according all also any could ever kind many might mention more most much often please recall remember remind
say should some sort tell type
"""
ASKING = frozenset(_ASKING.split())
"""Words that are left out of questions only: a line may be about them."""
