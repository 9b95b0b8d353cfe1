"""The shape of the source: small modules, small functions, and no error swallowed whole."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "souvenance"
MODULES = sorted(SOURCE.rglob("*.py"))
MOST_LINES = 600
MOST_FUNCTION_LINES = 60


@cache
def tree(path):
    return ast.parse(path.read_text("utf-8"))


def functions(path):
    return [node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def caught(handler):
    """The names of what a handler catches; nothing for a bare one."""
    if handler.type is None:
        return {""}
    parts = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {ast.unparse(part) for part in parts}


def offenders(found):
    """What each module is guilty of, by the module's path; only the guilty."""
    return {str(path.relative_to(SOURCE)): guilt for path in MODULES if (guilt := found(path))}


def test_there_is_source_to_look_at():
    assert len(MODULES) > 50


def test_every_module_fits_in_a_head():
    def too_long(path):
        lines = len(path.read_text("utf-8").splitlines())
        return lines if lines > MOST_LINES else None

    assert offenders(too_long) == {}


def test_every_function_fits_on_a_screen():
    def too_long(path):
        sizes = {node.name: node.end_lineno - node.lineno + 1 for node in functions(path)}
        return {name: lines for name, lines in sizes.items() if lines > MOST_FUNCTION_LINES}

    assert offenders(too_long) == {}


def test_no_handler_catches_everything_without_a_written_reason():
    def broad(path):
        lines = path.read_text("utf-8").splitlines()
        handlers = [node for node in ast.walk(tree(path)) if isinstance(node, ast.ExceptHandler)]
        return [
            node.lineno
            for node in handlers
            if caught(node) & {"", "Exception", "BaseException"}
            and "# noqa: BLE001 - " not in lines[node.lineno - 1]
        ]

    assert offenders(broad) == {}


def test_every_module_is_named_after_what_it_is():
    empty = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
    assert offenders(lambda path: empty & set(path.relative_to(SOURCE).with_suffix("").parts)) == {}


def test_no_two_classes_share_a_name():
    homes = defaultdict(list)
    for path in MODULES:
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def decoded_into(call):
    """What a call of msgspec's decodes into; None for one that decodes nothing, or into nothing of ours."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    match ast.unparse(call.func).split("."):
        case ["msgspec", "json" | "msgpack", "decode"]:
            return named.get("type")
        case ["msgspec", "json" | "msgpack", "Decoder"]:
            return named.get("type", call.args[0] if call.args else None)
        case ["msgspec", "convert"]:
            return named.get("type", call.args[1] if len(call.args) > 1 else None)
    return None


def needs_no_settling(shape):
    plain = {"str", "int", "dict", "list", "tuple", "Any", "Raw", "msgspec"}
    settled = isinstance(shape, ast.Call) and ast.unparse(shape.func) == "settled"
    return settled or {node.id for node in ast.walk(shape) if isinstance(node, ast.Name)} <= plain


def test_every_class_is_settled_where_something_is_decoded_into_it():
    def unsettled(path):
        calls = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
        shapes = [shape for call in calls if (shape := decoded_into(call)) is not None]
        return [shape.lineno for shape in shapes if not needs_no_settling(shape)]

    assert set(offenders(unsettled)) == {"decoders.py"}, "but where they are settled"
