"""Every call of the SDK stands in an example of the reference, and is run with it."""

import re
import subprocess

from examples import examples
from reference_pages import REFERENCE

from environments import client_program

CLASSES = (
    "Honcho",
    "Peer",
    "Session",
    "Scope",
    "ConclusionsView",
    "WorkspaceConclusions",
    "SessionContext",
    "SyncPage",
    "DialecticStreamResponse",
)
LISTED = f"""
import inspect, honcho
for cls in {CLASSES!r}:
    for base in getattr(honcho, cls).__mro__:
        if base.__module__.split(".")[0] == "honcho":
            for name, value in vars(base).items():
                if not name.startswith("_") and name != "model_post_init":
                    if inspect.isfunction(value) or isinstance(value, property):
                        print(name, "(" if inspect.isfunction(value) else "")
"""


def test_every_call_of_the_sdk_has_an_example():
    played = "\n".join(one.command for one in examples(REFERENCE / "honcho.md") if one.session)
    listed = subprocess.run(
        [client_program("honcho-2.7.0"), "-W", "ignore", "-c", LISTED],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    members = {tuple(line.split()) for line in listed.splitlines()}
    assert len(members) > 60
    calls = ["".join(member) for member in members]
    assert [call for call in calls if not re.search(rf"\.{re.escape(call)}", played)] == []
