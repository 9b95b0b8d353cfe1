"""Parts that are loaded when first used: a host agent may start a process for every turn."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from threading import Lock
from typing import Generic, TypeVar

from souvenance.domain.names import Compartment
from souvenance.ports.index import Hit, Index, Inquiry, Place, Readings
from souvenance.ports.store import Store, Transaction
from souvenance.ports.webhook_sender import WebhookDelivery, WebhookSender

_T = TypeVar("_T")


class Later(Generic[_T]):
    """What is made when it is first asked for, once, whichever threads ask."""

    def __init__(self, make: Callable[[], _T]) -> None:
        self._make = make
        self._lock = Lock()
        self.made: _T | None = None

    def __call__(self) -> _T:
        with self._lock:
            if self.made is None:
                self.made = self._make()
            return self.made


class IndexWhenAsked:
    """The index: numpy costs a process that only writes too much."""

    def __init__(self, cache_bytes: int) -> None:
        self._cache_bytes = cache_bytes
        self._index: Index | None = None

    def search(
        self, tx: Transaction, inquiry: Inquiry, k: int, within: Collection[str] | None = None
    ) -> list[Hit]:
        return self._ranked().search(tx, inquiry, k, within)

    def alike(
        self,
        tx: Transaction,
        inquiry: Inquiry,
        one: Place,
        others: Collection[Place],
        within: Collection[str] | None = None,
    ) -> dict[Place, float]:
        return self._ranked().alike(tx, inquiry, one, others, within)

    def _ranked(self) -> Index:
        if self._index is None:
            from souvenance.adapters.index.ranked import RankedIndex

            self._index = RankedIndex(self._cache_bytes)
        return self._index

    def load(self) -> None:
        """Import what the index runs on, in this thread."""
        self._ranked()

    def touch(self, compartment: Compartment, *, vectors: bool = False) -> None:
        if self._index is not None:
            self._index.touch(compartment, vectors=vectors)

    def keep_up(self, store: Store, readings: Readings) -> None:
        if self._index is not None:
            self._index.keep_up(store, readings)

    def forget(self) -> None:
        if self._index is not None:
            self._index.forget()


class WebhookSenderWhenAsked:
    """The webhook sender: few installations have a webhook, and what speaks HTTP and TLS takes long to
    load."""

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private

    def check(self, url: str) -> str:
        from souvenance.domain.webhooks import destination

        return destination(url, allow_private=self._allow_private).url

    def deliver(self, delivery: WebhookDelivery) -> None:
        self._webhook_sender.deliver(delivery)

    @cached_property
    def _webhook_sender(self) -> WebhookSender:
        from souvenance.adapters.webhook_sender import HttpWebhookSender

        return HttpWebhookSender(allow_private=self._allow_private)
