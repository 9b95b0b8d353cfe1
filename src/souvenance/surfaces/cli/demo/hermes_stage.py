"""The stage of the story with Hermes: one memory, and as many hosts as there are sessions."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec

from souvenance.surfaces.cli.demo.checks import answered, expect
from souvenance.surfaces.cli.demo.hermes_host import Host
from souvenance.surfaces.cli.demo.hermes_model import DemoModel
from souvenance.surfaces.cli.demo.stage import PATIENCE_SECONDS, Stage

WORKSPACE = "hermes"


class HermesStage(Stage):
    """A stage whose data folder is the memory that all the hosts share."""

    def __init__(self, folder: Path, environment: Path, model: DemoModel) -> None:
        super().__init__(folder)
        self.environment = environment
        self.model = model
        self._hosts = 0

    def host(self, recalls: dict[str, Any], **settings: Any) -> Host:
        """A host in a fresh home, with no past but the shared memory, for which it waits on any machine."""
        self._hosts += 1
        place = self.folder / f"host-{self._hosts}"
        known = {"store": str(self.home), "recallWait": PATIENCE_SECONDS}
        return Host(self.environment, place, self.model, {**known, **recalls}, **settings)

    def log(self) -> list[dict[str, Any]]:
        """The rows of the audit log."""
        ran = self.souvenance_on(self.home, "--workspace", WORKSPACE, "audit", "list")
        expect(ran.exit_code == 0, f"the audit log can't be read: {ran.err}")
        return [msgspec.json.decode(line) for line in ran.out.splitlines()]

    def put(self) -> list[list[str]]:
        """The ids of the messages of each turn that was stored."""
        return [row["lines"] for row in self.log() if row["operation"] == "messages.add"]

    def wait_for(self, turns: int) -> None:
        """Wait until so many turns are stored: a host answers before it writes."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(self.put()) < turns:
            expect(time.monotonic() < deadline, "what was said was not stored")

    def sessions(self) -> dict[str, int]:
        """How many messages each stored session has."""
        path = f"/v3/workspaces/{WORKSPACE}/sessions"
        cap = (self.home / "owner.cap").read_text("utf-8").strip()
        found = answered(self.ask("POST", f"{path}/list?size=100", {}, cap=cap))["items"]
        return {
            one["id"]: answered(self.ask("POST", f"{path}/{one['id']}/messages/list", {}, cap=cap))["total"]
            for one in found
        }
