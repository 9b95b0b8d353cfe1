"""The Honcho door on a gate with a model behind it; everything but the model's words is real."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from conversation.world import Pigeon, Stage
from gate.world import on_sqlite
from souvenance.gate.gate import Gate


@contextmanager
def thinking_stage(folder, thinker) -> Iterator[Stage]:
    world = on_sqlite(folder / "book.db", webhook_sender=Pigeon(), clock=thinker.clock)
    world.services = replace(world.services, model=thinker.model)
    world.gate = Gate(store=world.store, keyring=world.keyring, clock=world.clock, services=world.services)
    stage = Stage(world)
    try:
        yield stage
    finally:
        stage.close()
        world.store.close()
