"""The parts of the reference that are made from the code, so that they can't say anything else.

In a page of docs/reference they stand between `<!-- made: NAME -->` and `<!-- end -->`.

    python tests/docs/reference_pages.py     writes them anew
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from inspect import getdoc, isasyncgenfunction, isfunction, signature
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import msgspec
from msgspec import inspect as kinds

import souvenance
from souvenance import errors, settings
from souvenance.commands import command_line
from souvenance.domain import limits, relevance
from souvenance.domain import line as domain_line
from souvenance.gate.conversation.resource import BareListAnswer, Done, ResponsePage
from souvenance.gate.operations import EVERY
from souvenance.hermes.configuration import KEYS, ProviderSetting
from souvenance.memory import asynchronous, results, sync
from souvenance.surfaces.cli.main import exit_of
from souvenance.surfaces.http.honcho.routes import HONCHO_ROUTES
from souvenance.surfaces.http.routes import REFUSALS, ROUTES, STATUS, WITH_FILE, Route, status_of

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
_PART = re.compile(r"(?<=<!-- made: )(\w+)( -->\n).*?(?=<!-- end -->)", re.S)


def every_error(
    kind: type[errors.SouvenanceError] = errors.SouvenanceError,
) -> Iterator[type[errors.SouvenanceError]]:
    yield kind
    for child in kind.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from every_error(child)


def every_command() -> Iterator[tuple[str, str]]:
    """The name and help of every command, as a terminal of 80 columns shows it."""
    cli = command_line()
    root = click.Context(cli, info_name="souvenance", terminal_width=78, **cli.context_settings)
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


def signals() -> str:
    rows = [(f"`{one.name}`", f"{one.weight:g}", one.tells) for one in relevance.SIGNALS]
    return _table(("signal", "weight", "tells"), rows)


def codes() -> str:
    rows = [
        (f"`{kind.code}`", _status(kind), exit_of(kind), "yes" if kind.retryable else "", kind.default_hint)
        for kind in every_error()
    ]
    return _table(("code", "status", "exit", "retry", "hint"), rows)


def operations() -> str:
    rows = []
    routes = {route.operation.name: route for route in ROUTES}
    for operation in EVERY:
        need = operation.need
        route = routes.get(operation.name)
        right = f"`{need.op}`" if need.op else "any cap"
        where = f"`{route.method} {route.path}`" if route else "command line only"
        rows.append((f"`{operation.name}`", right, "yes" if need.operator else "", where))
    return _table(("operation", "right", "as wide as the owner's", "where"), rows)


def bounds() -> str:
    given = limits.Limits()
    rows: list[tuple[Any, ...]] = [
        (
            part.name,
            getattr(given, part.name),
            f"`{settings.SETTINGS[part.name].variable}`" if part.name in settings.SETTINGS else "",
        )
        for part in msgspec.structs.fields(limits.Limits)
    ]
    fixed = ("RECALL_DEFAULT", "RECALL_MOST", "LIST_DEFAULT", "LIST_MOST", "SNAPSHOT_BYTES")
    rows += [(name.lower(), getattr(limits, name), "") for name in fixed]
    return _table(("limit", "default", "variable"), rows)


def every_setting() -> str:
    """One table for each section."""
    head = ("variable", "option", "default", "meaning")
    sections: dict[str, list[tuple[str, ...]]] = {section: [] for section in settings.SECTIONS}
    for one in settings.SETTINGS.values():
        sections[one.section].append(_setting_row(one))
    return "\n".join(f"### {section}\n\n{_table(head, rows)}" for section, rows in sections.items())


def _setting_row(one: settings.Setting) -> tuple[str, ...]:
    option = f"`{one.option}`" if one.option else ""
    return f"`{one.variable}`", option, one.default and f"`{one.default}`", one.help


def routes() -> str:
    return "\n".join(_route(route, ROUTES) for route in ROUTES)


def refusals() -> str:
    """What routes may refuse with."""
    return _refusals(ROUTES[0]) + "\n"


def parts() -> str:
    return _parts(ROUTES)


def honcho_routes() -> str:
    told = "\n".join(_route(route, HONCHO_ROUTES) for route in HONCHO_ROUTES)
    return told.replace("time (RFC 3339, with zone)", "time (RFC 3339)")


def honcho_refusals() -> str:
    return _refusals(HONCHO_ROUTES[0]) + "\n"


def honcho_parts() -> str:
    return _parts(HONCHO_ROUTES).replace("time (RFC 3339, with zone)", "time (RFC 3339)")


def hermes_settings() -> str:
    sections: dict[str, list[tuple[str, ...]]] = {}
    for key in KEYS:
        sections.setdefault(key.section, []).append(
            (f"`{key.name}`", key.words.replace('"', "`"), _setting_default(key), _setting_meaning(key))
        )
    head = ("setting", "type", "default", "meaning")
    return "\n".join(f"### {name}\n\n{_table(head, rows)}" for name, rows in sections.items())


def hermes_variables() -> str:
    variables = [(name, key.name) for key in KEYS for name in (key.variable, key.kept_as) if name]
    rows = [(f"`{variable}`", f"`{name}`") for variable, name in variables]
    return _table(("variable", "setting"), rows)


def _setting_default(key: ProviderSetting) -> str:
    return key.default_text.replace('"', "`") or f"`{msgspec.json.encode(key.default_value).decode()}`"


def _setting_meaning(key: ProviderSetting) -> str:
    older = f" Also read as {', '.join(f'`{one}`' for one in key.aliases)}." if key.aliases else ""
    off = " A wrong value turns memory off." if key.guards else ""
    return f"{key.says.replace(chr(34), '`')}{off}{older}"


def _parts(table: tuple[Route, ...]) -> str:
    """The structures inside answers and requests that no route tells by itself."""
    told = {route.operation.request for route in table}
    if table is ROUTES:
        told |= {route.operation.answer for route in table}
    seen: dict[type, kinds.StructType] = {}
    for part in ("answer", "request"):
        for route in table:
            _collect(kinds.type_info(getattr(route.operation, part)), seen)
    nested: dict[str, kinds.StructType] = {}
    for cls, info in seen.items():
        if cls not in (*told, Done) and not issubclass(cls, ResponsePage | BareListAnswer):
            nested.setdefault(cls.__name__, info)
    return "\n".join(f"### {name}\n\n{_structure(info)}" for name, info in sorted(nested.items()))


def _structure(info: kinds.StructType) -> str:
    fields = _fields(info)
    if all(default == "(required)" for _, _, default in fields):
        return _table(("field", "type"), [(name, kind) for name, kind, _ in fields])
    return _table(("field", "type", "default"), fields)


def _route(route: Route, table: tuple[Route, ...]) -> str:
    operation = route.operation
    right = f"right `{operation.need.op}`" if operation.need.op else "any cap"
    told = [
        f"### {route.method} {route.path}\n",
        f"{route.summary}. Operation `{operation.name}`, {right}.\n",
        _asked(route),
        _answered(route, named=table is HONCHO_ROUTES),
    ]
    return "\n".join(told)


def _asked(route: Route) -> str:
    """The fields of a request, in a column that says where each stands if not all stand in the body."""
    fields = _fields(kinds.type_info(route.operation.request))
    if route.path.startswith("/v1/"):
        return _table(("request", "type", "default"), fields) if fields else "It takes no fields.\n"
    hidden = {f"`{name}`" for name in (*route.in_header, *(WITH_FILE[1:] if route.form else ()))}
    places = {**dict.fromkeys(route.in_path, "path"), **dict.fromkeys(route.in_query, "query")}
    if route.whole is not None:
        places[route.whole] = "the whole body"
    rows = [
        (name, places.get(name.strip("`"), "form" if route.form else "body"), kind, default)
        for name, kind, default in fields
        if name not in hidden and places.get(name.strip("`")) != "path"
    ]
    return _table(("request", "in", "type", "default"), rows) if rows else "It takes no fields.\n"


def _answered(route: Route, *, named: bool) -> str:
    """What is answered: the fields, or a link to them where one kind has many routes."""
    kind, status = route.operation.answer, route.status
    if not named:
        fields = [(name, kind) for name, kind, _ in _fields(kinds.type_info(kind))]
        return _table((f"answer {status}", "type"), fields)
    told = f"{status}, or {route.existing} if it existed" if route.existing else str(status)
    if kind is Done:
        return f"Answers {told}, without a body.\n"
    info = kinds.type_info(kind)
    whole = _kind(info.fields[0].type) if issubclass(kind, BareListAnswer) else _kind(info)
    return f"Answers {told}: {whole}.\n"


def _refusals(route: Route) -> str:
    by_status: dict[int, list[str]] = {}
    for kind in REFUSALS:
        by_status.setdefault(route.refused_as(kind), []).append(f"`{kind.code}`")
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
        case kinds.LiteralType():
            return " or ".join(f"`{value}`" for value in info.values)
        case kinds.StructType() if issubclass(info.cls, ResponsePage):
            return f"page of {_kind(info.fields[0].type.item_type)}"
        case kinds.StructType():
            return f"[{info.cls.__name__}](#{info.cls.__name__.lower()})"
        case kinds.DictType() if isinstance(info.value_type, kinds.StructType):
            return f"object of {_kind(info.value_type)}"
        case kinds.ListType() | kinds.VarTupleType():
            return f"list{_bounded(_range(info.min_length, info.max_length))} of {_kind(info.item_type)}"
        case _:
            return _WORDS[type(info)] + _bounds(info)


_WORDS = {
    kinds.StrType: "string",
    kinds.IntType: "integer",
    kinds.FloatType: "number",
    kinds.BoolType: "boolean",
    kinds.DateTimeType: "time (RFC 3339, with zone)",
    kinds.DictType: "object",
    kinds.BytesType: "file",
    kinds.AnyType: "anything",
}


def _bounds(info: Any) -> str:
    match info:
        case kinds.StrType():
            pattern = f"like `{info.pattern}`" if info.pattern else ""
            return _bounded(_range(info.min_length, info.max_length, " characters"), pattern)
        case kinds.IntType() | kinds.FloatType():
            return _bounded(_range(info.ge, info.le))
        case _:
            return ""


def _range(least: float | None, most: float | None, unit: str = "") -> str:
    if most is None:
        return "" if least is None else f"at least {least}{unit}"
    return f"{least} to {most}{unit}" if least is not None else f"at most {most}{unit}"


def _bounded(*bounds: str) -> str:
    told = ", ".join(bound for bound in bounds if bound)
    return f" ({told})" if told else ""


def _collect(info: Any, seen: dict[type, kinds.StructType]) -> None:
    match info:
        case kinds.StructType():
            if info.cls not in seen:
                seen[info.cls] = info
                for field in info.fields:
                    _collect(field.type, seen)
        case kinds.Metadata():
            _collect(info.type, seen)
        case kinds.UnionType():
            for one in info.types:
                _collect(one, seen)
        case kinds.ListType() | kinds.VarTupleType():
            _collect(info.item_type, seen)
        case kinds.DictType():
            _collect(info.value_type, seen)
        case _:
            pass


def python_api() -> str:
    """What `souvenance.open` gives, from the docstrings."""
    parts = [
        f"## Open\n\n{_called('souvenance.open', souvenance.open)}",
        f"## Show to a model\n\n{_called('souvenance.framed', souvenance.framed)}",
    ]
    for kind, of in (
        (sync.LineMethods, "memory"),
        (sync.Memory, "memory"),
        (sync.Peer, "peer"),
        (sync.Session, "session"),
    ):
        methods = [_called(f"{of}.{name}", one) for name, one in vars(kind).items() if _is_method(name, one)]
        parts.append(f"## {kind.__name__}\n\n{getdoc(kind)}\n\n" + "\n".join(methods))
    return "\n".join(parts)


def python_results() -> str:
    given = next(one for one in _classes(domain_line) if one.name == "GivenFields")
    return "\n".join(_result(node, given) for node in _classes(results))


def _classes(module: ModuleType) -> list[ast.ClassDef]:
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    return [node for node in tree.body if isinstance(node, ast.ClassDef)]


def python_async() -> str:
    names = {"async for": [], "await": []}
    for kind in (asynchronous.AsyncLineMethods, *(getattr(souvenance, f"Async{one}") for one in _ASYNC)):
        for name, one in vars(kind).items():
            if not name.startswith("_") and hasattr(one, "__wrapped__"):
                names["async for" if isasyncgenfunction(one) else "await"].append(f"`{name}`")
    rows = [(f"`{how}`", ", ".join(dict.fromkeys(which))) for how, which in names.items()]
    return _table(("with", "methods"), rows)


_ASYNC = ("Memory", "Peer", "Session")


def _is_method(name: str, one: Any) -> bool:
    return isfunction(one) and not name.startswith("_")


def _called(name: str, function: Any) -> str:
    """A function or method: how it is called, and what it does."""
    parameters, star = [], False
    for one in signature(function).parameters.values():
        if one.name == "self":
            continue
        if one.kind is one.KEYWORD_ONLY and not star:
            parameters.append("*")
            star = True
        prefix = "**" if one.kind is one.VAR_KEYWORD else ""
        default = "" if one.default is one.empty else f" = {one.default!r}".replace("'", '"')
        parameters.append(f"{prefix}{one.name}: {one.annotation}{default}")
    whole = f"{name}({', '.join(parameters)})"
    if len(whole) > _SIGNATURE_CHARS:
        whole = f"{name}(\n" + "".join(f"    {one},\n" for one in parameters) + ")"
    returned = signature(function).return_annotation
    return f"### {name}\n\n```text\n{whole} -> {returned}\n```\n\n{getdoc(function)}\n"


_SIGNATURE_CHARS = 80


def _result(node: ast.ClassDef, given: ast.ClassDef) -> str:
    """A table of what a result holds; what stands below a field says more of it."""
    rows = []
    inherited = given.body if any(ast.unparse(base) == given.name for base in node.bases) else []
    body = [*node.body, *inherited, ast.Pass()]
    for at, one in enumerate(body):
        if isinstance(one, ast.AnnAssign):
            said = body[at + 1]
            told = ast.literal_eval(said.value) if isinstance(said, ast.Expr) else ""
            kind = ast.unparse(one.annotation).replace("Name", "str").replace("|", "\\|")
            rows.append((f"`{ast.unparse(one.target)}`", f"`{kind}`", " ".join(told.split())))
    table = _table(("field", "type", ""), rows)
    return f"### {node.name}\n\n{ast.get_docstring(node)}\n\n{table}"


def _status(kind: type[errors.SouvenanceError]) -> str:
    return str(status_of(kind)) if any(base in STATUS for base in kind.__mro__) else ""


def _table(head: tuple[str, ...], rows: list[Any]) -> str:
    told = [f"| {' | '.join(str(cell) for cell in row)} |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join(told).replace("  |", " |") + "\n"


MADE = {
    part.__name__: part
    for part in (
        commands,
        signals,
        codes,
        operations,
        bounds,
        every_setting,
        refusals,
        routes,
        parts,
        honcho_refusals,
        honcho_routes,
        honcho_parts,
        hermes_settings,
        hermes_variables,
        python_api,
        python_async,
        python_results,
    )
}


def renewed(page: str) -> str:
    """The page with every made part as the code has it now."""
    return _PART.sub(lambda found: f"{found[1]}{found[2]}{MADE[found[1]]()}", page)


if __name__ == "__main__":
    for path in sorted(REFERENCE.glob("*.md")):
        path.write_text(renewed(path.read_text("utf-8")), "utf-8")
