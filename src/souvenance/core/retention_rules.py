"""The retention rules of a workspace: entries of its directory, read anew when one changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from souvenance.decoders import decoded
from souvenance.domain.directory import Entry
from souvenance.domain.retention import FORGET, Hidden, RetentionRule
from souvenance.errors import Tampered
from souvenance.ports.store import Transaction

if TYPE_CHECKING:
    from souvenance.core.request_context import Memo

ENTRY = "retention"
"""Kind of the entry that says what a rule says."""


def rules_of(tx: Transaction, memo: Memo, workspace: str, mark: int) -> Sequence[RetentionRule]:
    """In order of name, as of that mark of the workspace's compartments. Raises: Tampered."""
    key = (rules_of, workspace, mark)
    known: Sequence[RetentionRule] | None = memo.get(key)
    if known is None:
        known = sorted(map(rule_of, tx.directory.entries(workspace, ENTRY)), key=lambda rule: rule.name)
        memo.keep(key, known)
    return known


def hidden(tx: Transaction, memo: Memo, workspace: str, mark: int, now: int) -> Hidden:
    """What nobody is shown now. Raises: Tampered."""
    rules = rules_of(tx, memo, workspace, mark)
    return Hidden(now, workspace, [rule.aged(now) for rule in rules if rule.then == FORGET])


def keep(tx: Transaction, workspace: str, rule: RetentionRule, uid: str, now: int) -> None:
    """Let the rule hold, in place of one of its name."""
    text = msgspec.json.encode(rule).decode()
    tx.directory.remove(workspace, ENTRY, rule.name)
    tx.directory.add(Entry(workspace, ENTRY, rule.name, uid, now, configuration=text))
    tx.touch(workspace, compartments=True)


def drop(tx: Transaction, workspace: str, name: str) -> None:
    tx.directory.remove(workspace, ENTRY, name)
    tx.touch(workspace, compartments=True)


def rule_of(entry: Entry) -> RetentionRule:
    """Raises: Tampered."""
    fault = Tampered(f"the retention rule {entry.name!r} can't be read")
    return decoded(entry.configuration, RetentionRule, fault)
