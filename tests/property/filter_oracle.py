"""Filters as SQL: the second opinion that the compiled predicates are compared with.

Everything that can be left to SQLite is left to it: three-valued logic, `IS NOT`, `LIKE`, what
text spells a number (a column with NUMERIC affinity decides), dates, the order of text.
Metadata lies in a table with a row for each JSON node. Only valid filters are understood.
"""

from __future__ import annotations

import json
import sqlite3
from itertools import count

SCHEMA = """
CREATE TABLE line (
    id, peer_id, session_id, level, token_count, created_at, is_active, source_ids, metadata
);
CREATE TABLE node (line, id, parent, key, kind, value, text TEXT, spelled NUMERIC);
CREATE INDEX node_parent ON node (line, parent);
CREATE TABLE scratch (spelled NUMERIC);
"""
SIGNS = {"gte": ">=", "lte": "<=", "gt": ">", "lt": "<"}
MOMENT = "(strftime('%s', {0}) * 1000 + CAST(substr(strftime('%f', {0}), 4) AS INTEGER))"


class Oracle:
    """Rows in SQLite, and which of them a filter wants."""

    def __init__(self, rows):
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.executescript(SCHEMA)
        for row in rows:
            stored = row | {name: dumped(row[name]) for name in ("source_ids", "metadata")}
            places = ", ".join(f":{name}" for name in stored)
            self.db.execute(f"INSERT INTO line ({', '.join(stored)}) VALUES ({places})", stored)
            self._plant(row["id"], row["metadata"])

    def select(self, filters):
        query = Query(self._spelled)
        sql = f"SELECT id FROM line WHERE {query.filter(filters)}"
        return {id for (id,) in self.db.execute(sql, query.values)}

    def _plant(self, line, metadata):
        """Store a JSON value as nodes; the root's number is 0 and it has no parent."""
        numbers = count()
        nodes = []

        def plant(parent, key, value):
            number = next(numbers)
            nested = isinstance(value, dict | list)
            text = text_of(value)
            nodes.append((line, number, parent, key, kind_of(value), None if nested else value, text, text))
            if nested:
                named = value.items() if isinstance(value, dict) else ((None, each) for each in value)
                for name, each in named:
                    plant(number, name, each)

        plant(None, None, metadata)
        self.db.executemany("INSERT INTO node VALUES (?,?,?,?,?,?,?,?)", nodes)

    def _spelled(self, text):
        """The number that SQLite takes a text for, if it takes it for one."""
        self.db.execute("DELETE FROM scratch")
        self.db.execute("INSERT INTO scratch VALUES (?)", [text])
        [(kind, number)] = self.db.execute("SELECT typeof(spelled), spelled FROM scratch")
        return number if kind in ("integer", "real") else None


class Query:
    """A WHERE clause in the making; values are bound in the order of their question marks."""

    def __init__(self, spelled):
        self.values = []
        self.spelled = spelled
        self.aliases = count()

    def bind(self, value):
        self.values.append(value)
        return f"?{len(self.values)}"

    def filter(self, filters):
        return conjunction(self.entry(key, value) for key, value in filters.items())

    def entry(self, key, value):
        if key == "AND":
            return conjunction(self.filter(each) for each in value)
        if key == "OR":
            return disjunction(self.filter(each) for each in value)
        if key == "NOT":
            return conjunction(f"({self.filter(each)}) IS NOT TRUE" for each in value)
        if value == "*":
            return "TRUE"
        if value is None:
            return f"line.{key} IS NULL"
        if key == "metadata":
            return conjunction(self.metadata(name, wanted) for name, wanted in value.items())
        if key == "source_ids":
            return conjunction(self.membership(op, operand) for op, operand in value.items())
        return self.column(key, value)

    def column(self, name, cond):
        if isinstance(cond, list):
            cond = {"in": cond}
        if not isinstance(cond, dict):
            return f"line.{name} = {self.operand(name, cond)}"
        return conjunction(self.comparison(name, op, operand) for op, operand in cond.items())

    def comparison(self, name, op, operand):
        column = f"line.{name}"
        if op == "in":
            if "*" in operand:
                return "TRUE"
            return f"{column} IN ({', '.join([self.operand(name, each) for each in operand])})"
        if op in ("contains", "icontains"):
            return self.like(column, operand)
        if op == "ne":
            return f"{column} IS NOT {self.operand(name, operand)}"
        return f"{column} {SIGNS[op]} {self.operand(name, operand)}"

    def operand(self, name, value):
        bound = self.bind(value)
        return MOMENT.format(bound) if name == "created_at" and value is not None else bound

    def like(self, text, part):
        pattern = part.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        return f"{text} LIKE {self.bind(f'%{pattern}%')} ESCAPE '\\'"

    def membership(self, op, operand):
        if op == "ne":
            return "line.source_ids IS NOT NULL"
        wanted = operand if isinstance(operand, list) else [operand]
        members = "(SELECT value FROM json_each(line.source_ids))"
        each = conjunction(f"{self.bind(one)} IN {members}" for one in wanted)
        return f"CASE WHEN line.source_ids IS NULL THEN NULL ELSE {each} END"

    def metadata(self, name, wanted):
        if wanted == "*":
            return "TRUE"
        if isinstance(wanted, dict) and set(wanted) & {"ne", "in", "contains", "icontains", *SIGNS}:
            return conjunction(self.metadata_comparison(name, op, operand) for op, operand in wanted.items())
        return self.child("line.id", "0", wanted, name)

    def child(self, line, parent, wanted, name=None):
        """That a node has a child which contains what is wanted, under a name if one is given."""
        alias = f"n{next(self.aliases)}"
        named = "TRUE" if name is None else f"{alias}.key = {self.bind(name)}"
        return (
            f"EXISTS (SELECT 1 FROM node {alias} WHERE {alias}.line = {line} AND {alias}.parent = {parent}"
            f" AND {named} AND {self.contains(alias, wanted)})"
        )

    def contains(self, alias, wanted):
        kind = f"{alias}.kind = '{kind_of(wanted)}'"
        if isinstance(wanted, str | int | float) and not isinstance(wanted, bool):
            return f"{kind} AND {alias}.value = {self.bind(wanted)}"
        place = f"{alias}.line", f"{alias}.id"
        if isinstance(wanted, dict):
            return conjunction([kind, *(self.child(*place, each, name) for name, each in wanted.items())])
        if isinstance(wanted, list):
            return conjunction([kind, *(self.child(*place, each) for each in wanted)])
        return kind

    def metadata_comparison(self, name, op, operand):
        if op == "in":
            if "*" in operand:
                return "TRUE"
            return disjunction(self.metadata_equality(name, "IS", each) for each in operand)
        if op in ("contains", "icontains"):
            return self.like(self.text(name), operand)
        if op == "ne":
            return self.metadata_equality(name, "IS NOT", operand)
        number = self.spelled(operand) if isinstance(operand, str) else operand
        if number is None:
            return f"{self.text(name)} {SIGNS[op]} {self.bind(operand)}"
        return f"{self.number(name)} {SIGNS[op]} {self.bind(number)}"

    def metadata_equality(self, name, sign, operand):
        if isinstance(operand, bool):
            operand = "true" if operand else "false"
        seen = self.text(name) if operand is None or isinstance(operand, str) else self.number(name)
        return f"{seen} {sign} {self.bind(operand)}"

    def text(self, name):
        return self.looked_up(name, "text")

    def number(self, name):
        return self.looked_up(name, "CASE WHEN typeof(spelled) IN ('integer', 'real') THEN spelled END")

    def looked_up(self, name, what):
        place = f"line = line.id AND parent = 0 AND key = {self.bind(name)}"
        return f"(SELECT {what} FROM node WHERE node.{place})"


def conjunction(parts):
    return f"({' AND '.join(parts) or 'TRUE'})"


def disjunction(parts):
    return f"({' OR '.join(parts) or 'FALSE'})"


def dumped(value):
    return None if value is None else json.dumps(value)


def kind_of(value):
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    kinds = {str: "string", int: "number", float: "number", dict: "object", list: "array"}
    return kinds[type(value)]


def text_of(value, *, quoted=False):
    """JSON as PostgreSQL shows it, but with the keys of objects in plain order; null has no text."""
    match kind_of(value):
        case "object":
            pairs = (f'"{key}": {text_of(value[key], quoted=True)}' for key in sorted(value))
            return f"{{{', '.join(pairs)}}}"
        case "array":
            return f"[{', '.join(text_of(each, quoted=True) for each in value)}]"
        case "string":
            return f'"{value}"' if quoted else value
        case "null":
            return "null" if quoted else None
        case "number":
            return str(value)
        case word:
            return word
