"""What was worked out at some expense from lines that do not change: ids and numbers, never a text."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

_MOST = 512


class Memo:
    """Thread-safe; what was asked for longest ago is forgotten first."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Any | None:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def keep(self, key: Hashable, value: Any) -> None:
        with self._lock:
            self._known[key] = value
            if len(self._known) > _MOST:
                self._known.popitem(last=False)

    def forget(self) -> None:
        with self._lock:
            self._known.clear()
