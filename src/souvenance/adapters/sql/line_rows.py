"""How a line stands in a row."""

from __future__ import annotations

from souvenance.adapters.sql.engine import SqlRow, as_bytes
from souvenance.domain.line import SealedLine
from souvenance.domain.names import Compartment

COLUMNS = (
    *("workspace", "owner", "namespace", "id", "kind", "session", "created_at", "occurred_at"),
    *("supersedes", "cap", "turn", "about", "metadata", "epoch", "sealed", "tokens", "likeness", "times"),
)
READ = ", ".join(f"l.{column}" for column in COLUMNS) + ", i.by_id"
FROM = """FROM lines l LEFT JOIN invalidations i
    ON i.workspace = l.workspace AND i.owner = l.owner AND i.namespace = l.namespace AND i.target = l.id"""
STANDS = "i.target IS NULL"
"""Nothing replaced the line. Asked of a column that the tables are joined by: PostgreSQL then knows that most
lines are like that, and walks an index only as far as it must."""
GET = f"SELECT {READ} {FROM} WHERE l.workspace = ? AND l.owner = ? AND l.namespace = ? AND l.id = ?"


def row_of(line: SealedLine) -> SqlRow:
    """The values of `COLUMNS`."""
    return (
        *line.compartment,
        line.id,
        line.kind,
        line.session,
        line.created_at,
        line.occurred_at,
        line.supersedes,
        line.cap,
        line.turn,
        line.about,
        line.metadata,
        line.epoch,
        line.sealed,
        line.tokens,
        line.likeness,
        line.times,
    )


def line_of(row: SqlRow) -> SealedLine:
    """The line of a row of `READ`."""
    return SealedLine(
        compartment=Compartment(row[0], row[1], row[2]),
        id=row[3],
        kind=row[4],
        session=row[5],
        created_at=row[6],
        occurred_at=row[7],
        supersedes=row[8],
        cap=row[9],
        turn=row[10],
        about=row[11],
        metadata=row[12],
        epoch=row[13],
        sealed=as_bytes(row[14]),
        tokens=row[15],
        likeness=None if row[16] is None else as_bytes(row[16]),
        times=row[17],
        invalidated_by=row[18],
    )
