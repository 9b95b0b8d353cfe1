"""The wall around a workspace in PostgreSQL: row-level security, behind the gate.

A transaction says which workspace it is of; policies show and take no rows of others. What belongs to all
('*') can be read from every workspace, and of it only counters can be changed. Without a word nothing is
shown. PostgreSQL excepts superusers from policies, and roles that bypass them; for these a role without a
login is made, which transactions take on.
"""

from __future__ import annotations

from souvenance.adapters.sql.engine import SqlSession

SETTING = "souvenance.workspace"
ROLE = "souvenance_rows"
TABLES = """SELECT quote_ident(c.relname) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
    AND a.attname = 'workspace' AND NOT a.attisdropped ORDER BY c.relname"""
"""The tables that have a workspace."""

_POLICIES = (
    "SELECT quote_ident(tablename) FROM pg_policies WHERE schemaname = current_schema() AND policyname = ?"
)
_SHOWN, _ADDED, _CHANGED, _DELETED = (
    f"souvenance_{what}" for what in ("shown", "added", "changed", "deleted")
)
_ASKED = f"(SELECT current_setting('{SETTING}', true))"
_OF_IT = f"({_ASKED} = '*' OR {_ASKED} = workspace)"
_OF_IT_OR_ALL = f"({_OF_IT} OR (workspace = '*' AND {_ASKED} <> ''))"
_COUNTERS = "counters"
_IS_EXCEPTED = "SELECT rolsuper OR rolbypassrls, rolsuper FROM pg_roles WHERE rolname = current_user"
_MAKE_ROLE = f"""DO $$ BEGIN CREATE ROLE {ROLE} NOLOGIN NOBYPASSRLS;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"""
_LACKS = f"""SELECT 1 FROM pg_class WHERE relnamespace = current_schema()::regnamespace
    AND relkind IN ('r', 'p') AND NOT has_table_privilege('{ROLE}', oid, 'DELETE') LIMIT 1"""


def build(session: SqlSession) -> str | None:
    """Build what is missing of the wall; the role that transactions must take on for it to stand, if any."""
    fenced = {table for (table,) in session.rows(_POLICIES, (_CHANGED,))}
    for (table,) in session.rows(TABLES):
        if table not in fenced:
            _fence(session, table)
    excepted = session.row(_IS_EXCEPTED)
    if excepted is None or not excepted[0]:
        return None
    _make_role(session, superuser=excepted[1])
    return ROLE


def policies(table: str) -> list[tuple[str, str]]:
    """The policies of a table that has a workspace: the name of each, and what PostgreSQL tells of it."""
    changed = _OF_IT_OR_ALL if table == _COUNTERS else _OF_IT
    told = (
        (_SHOWN, "SELECT", _OF_IT_OR_ALL, ""),
        (_ADDED, "INSERT", "", changed),
        (_CHANGED, "UPDATE", changed, changed),
        (_DELETED, "DELETE", changed, ""),
    )
    return [
        (name, f"PERMISSIVE {{public}} {command} {using}" + (f" check {check}" if check else ""))
        for name, command, using, check in told
    ]


def _fence(session: SqlSession, table: str) -> None:
    changed = _OF_IT_OR_ALL if table == _COUNTERS else _OF_IT
    session.run(f"CREATE POLICY {_SHOWN} ON {table} FOR SELECT USING ({_OF_IT_OR_ALL})")
    session.run(f"CREATE POLICY {_ADDED} ON {table} FOR INSERT WITH CHECK ({changed})")
    session.run(f"CREATE POLICY {_CHANGED} ON {table} FOR UPDATE USING ({changed}) WITH CHECK ({changed})")
    session.run(f"CREATE POLICY {_DELETED} ON {table} FOR DELETE USING ({changed})")
    session.run(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    session.run(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def _make_role(session: SqlSession, *, superuser: bool) -> None:
    session.run(_MAKE_ROLE)
    if not superuser:
        session.run(f"GRANT {ROLE} TO CURRENT_USER")
    if session.row(_LACKS) is None:
        return
    (schema,) = session.row("SELECT quote_ident(current_schema())") or ("public",)
    session.run(f"GRANT USAGE ON SCHEMA {schema} TO {ROLE}")
    session.run(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {ROLE}")
    session.run(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {ROLE}")
