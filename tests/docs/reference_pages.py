"""The parts of the reference that are made from the code, so that they can't say anything else.

In a page of docs/reference they stand between `<!-- made: NAME -->` and `<!-- end -->`.

    python tests/docs/reference_pages.py     writes them anew
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec import inspect as kinds

from mnemon import config, errors
from mnemon.domain import limits
from mnemon.gate.operations import EVERY
from mnemon.surfaces.cli.exits import exit_of
from mnemon.surfaces.cli.main import cli
from mnemon.surfaces.http.routes import BY_OPERATION, ROUTES, Route
from mnemon.surfaces.http.statuses import STATUS, status_of

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
_PART = re.compile(r"(?<=<!-- made: )(\w+)( -->\n).*?(?=<!-- end -->)", re.S)


def every_error(kind: type[errors.MnemonError] = errors.MnemonError) -> Iterator[type[errors.MnemonError]]:
    yield kind
    for child in kind.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from every_error(child)


def every_command() -> Iterator[tuple[str, str]]:
    """The name and help of every command, as a terminal of 80 columns shows it."""
    root = click.Context(cli, info_name="mnemon", terminal_width=78, **cli.context_settings)
    return _commands(root)


def _commands(context: click.Context) -> Iterator[tuple[str, str]]:
    yield context.command_path, context.get_help()
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            assert command is not None
            yield from _commands(click.Context(command, parent=context, info_name=name))


def commands() -> str:
    return "\n".join(f"### {name}\n\n```text\n{text.strip()}\n```\n" for name, text in every_command())


def codes() -> str:
    rows = [
        (f"`{kind.code}`", _status(kind), exit_of(kind), "yes" if kind.retryable else "", kind.default_hint)
        for kind in every_error()
    ]
    return _table(("code", "status", "exit", "retry", "hint"), rows)


def operations() -> str:
    rows = []
    for operation in EVERY:
        need = operation.need
        route = BY_OPERATION.get(operation.name)
        right = f"`{need.op}`" if need.op else "any cap"
        where = f"`{route.method} {route.path}`" if route else "command line only"
        rows.append((f"`{operation.name}`", right, "yes" if need.operator else "", where))
    return _table(("operation", "right", "as wide as the owner's", "where"), rows)


def bounds() -> str:
    variables = {name: variable for variable, name in config._LIMITS.items()}
    given = limits.Limits()
    rows: list[tuple[Any, ...]] = [
        (part.name, getattr(given, part.name), f"`{variables[part.name]}`" if part.name in variables else "")
        for part in msgspec.structs.fields(limits.Limits)
    ]
    fixed = ("RECALL_DEFAULT", "RECALL_MOST", "LIST_DEFAULT", "LIST_MOST", "SNAPSHOT_BYTES")
    rows += [(name.lower(), getattr(limits, name), "") for name in fixed]
    return _table(("limit", "default", "variable"), rows)


def routes() -> str:
    return "\n".join(_route(route) for route in ROUTES)


def refusals() -> str:
    """What every route may answer."""
    return _refusals(_everywhere()) + "\n"


def parts() -> str:
    """The structures inside answers and requests that have no route of their own."""
    own = {kind for route in ROUTES for kind in (route.operation.request, route.operation.answer)}
    seen: dict[str, kinds.StructType] = {}
    for kind in own:
        _collect(kinds.type_info(kind), seen)
    nested = {name: info for name, info in seen.items() if info.cls not in own}
    return "\n".join(
        f"### {name}\n\n{_table(('field', 'type', 'default'), _fields(info))}"
        for name, info in sorted(nested.items())
    )


def _route(route: Route) -> str:
    operation = route.operation
    right = f"right `{operation.need.op}`" if operation.need.op else "any cap"
    request = _fields(kinds.type_info(operation.request))
    answer = [(name, kind) for name, kind, _ in _fields(kinds.type_info(operation.answer))]
    common = _everywhere()
    own = _refusals([kind for kind in route.errors if kind not in common])
    told = [
        f"### {route.method} {route.path}\n",
        f"{route.summary}. Operation `{operation.name}`, {right}.\n",
        _table(("request", "type", "default"), request) if request else "It takes no fields.\n",
        _table((f"answer {route.status}", "type"), answer),
        *([f"Also refused with {own}.\n"] if own else []),
    ]
    return "\n".join(told)


def _everywhere() -> list[type[errors.MnemonError]]:
    return [kind for kind in ROUTES[0].errors if all(kind in route.errors for route in ROUTES)]


def _refusals(found: list[type[errors.MnemonError]]) -> str:
    by_status: dict[int, list[str]] = {}
    for kind in found:
        by_status.setdefault(status_of(kind), []).append(f"`{kind.code}`")
    return "; ".join(f"{status} {', '.join(sorted(by_status[status]))}" for status in sorted(by_status))


def _fields(info: Any) -> list[tuple[str, str, str]]:
    return [(f"`{one.encode_name}`", _kind(one.type), _default(one)) for one in info.fields]


def _default(field: kinds.Field) -> str:
    if field.required:
        return "(required)"
    value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    return "" if value is None else f"`{msgspec.json.encode(value).decode()}`"


def _kind(info: Any) -> str:
    match info:
        case kinds.Metadata():
            return _kind(info.type)
        case kinds.UnionType():
            return " or ".join(_kind(one) for one in info.types if not isinstance(one, kinds.NoneType)) + (
                " or null" if info.includes_none else ""
            )
        case kinds.StrType():
            pattern = f"like `{info.pattern}`" if info.pattern else ""
            return "string" + _bounded(_range(info.min_length, info.max_length, " characters"), pattern)
        case kinds.IntType():
            return "integer" + _bounded(_range(info.ge, info.le))
        case kinds.FloatType():
            return "number"
        case kinds.BoolType():
            return "boolean"
        case kinds.DateTimeType():
            return "time (RFC 3339, with zone)"
        case kinds.DictType():
            return "object"
        case kinds.ListType():
            return f"list of {_kind(info.item_type)}"
        case kinds.VarTupleType():
            return f"list{_bounded(_range(None, info.max_length))} of {_kind(info.item_type)}"
        case kinds.StructType():
            return f"[{info.cls.__name__}](#{info.cls.__name__.lower()})"
        case _:
            raise AssertionError(f"no words for {info}")


def _range(least: int | None, most: int | None, unit: str = "") -> str:
    if most is None:
        return "" if least is None else f"at least {least}{unit}"
    return f"{least} to {most}{unit}" if least is not None else f"at most {most}{unit}"


def _bounded(*bounds: str) -> str:
    told = ", ".join(bound for bound in bounds if bound)
    return f" ({told})" if told else ""


def _collect(info: Any, seen: dict[str, kinds.StructType]) -> None:
    match info:
        case kinds.StructType():
            if info.cls.__name__ not in seen:
                seen[info.cls.__name__] = info
                for field in info.fields:
                    _collect(field.type, seen)
        case kinds.Metadata():
            _collect(info.type, seen)
        case kinds.UnionType():
            for one in info.types:
                _collect(one, seen)
        case kinds.ListType() | kinds.VarTupleType():
            _collect(info.item_type, seen)
        case _:
            pass


def _status(kind: type[errors.MnemonError]) -> str:
    return str(status_of(kind)) if any(base in STATUS for base in kind.__mro__) else ""


def _table(head: tuple[str, ...], rows: list[Any]) -> str:
    told = [f"| {' | '.join(str(cell) for cell in row)} |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join(told).replace("  |", " |") + "\n"


MADE = {part.__name__: part for part in (commands, codes, operations, bounds, refusals, routes, parts)}


def renewed(page: str) -> str:
    """The page with every made part as the code has it now."""
    return _PART.sub(lambda found: f"{found[1]}{found[2]}{MADE[found[1]]()}", page)


if __name__ == "__main__":
    for path in sorted(REFERENCE.glob("*.md")):
        path.write_text(renewed(path.read_text("utf-8")), "utf-8")
