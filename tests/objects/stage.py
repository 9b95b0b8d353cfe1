"""A data folder that keeps its lines a second time, and what its owner does with it."""

from __future__ import annotations

from contextlib import contextmanager

from conversation.world import Speaker, Wire
from souvenance import open_installation, settings_from
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_verifier import Credentials
from souvenance.ports.object_store import Objects
from souvenance.surfaces.http.app import make_app

PATIENCE_SECONDS = 30.0


class Kept:
    """An open house with a bucket or a folder behind it."""

    def __init__(self, home, url, *, store=None, **options):
        named = {"SOUVENANCE_OBJECTS": url, "SOUVENANCE_STORE": store}
        known = {"SOUVENANCE_EMBEDDER": "none", **{name: told for name, told in named.items() if told}}
        self.installation = open_installation(settings_from(known, str(home)), **options)

    def call(self, operation, request):
        return self.installation.gate.call(operation, Credentials(self.installation.owner_cap), request)

    def put(self, text, **more):
        return self.call(o.PUT, m.Put(text, **more)).id

    def carry(self):
        self.installation.carry(PATIENCE_SECONDS)

    def texts(self):
        """What every line says, replaced ones too, by id."""
        page = self.call(o.LIST, m.List(history=True, limit=1000))
        return {line.id: self.call(o.LINE, m.GetLine(line.id)).text for line in page.lines}

    def found(self, query):
        return [one.text for one in self.call(o.GET, m.Get(query)).lines]

    def status(self):
        return self.call(o.STATUS, m.Nothing())

    @contextmanager
    def speaking(self, workspace="talk"):
        with Wire(make_app(self.installation.gate)) as wire:
            yield Speaker(wire, self.installation.owner_cap, workspace)


@contextmanager
def kept(home, url, **options):
    opened = Kept(home, url, **options)
    try:
        yield opened
    finally:
        opened.installation.close()


def every_key(objects: Objects, prefix: str = "") -> list[str]:
    found: list[str] = []
    while page := objects.keys(prefix, found[-1] if found else ""):
        found += page
    return found
