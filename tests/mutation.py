"""Mutation testing of the gate and its tokens, by hand: `.venv/bin/python tests/mutation.py`.

A sample of small defects, the same for the same seed, is made one at a time: a comparison or a condition
turned round, a check or a call left out, a number changed. Then the tests of the gate run until one fails.
Each defect that no test notices is printed: it is a hole in the tests, or changes nothing that anybody sees.
The tests are collected once. For each defect the process forks, and the fork changes the loaded functions.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gc
import importlib
import os
import random
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (
    "gate/gate.py",
    "gate/token_verifier.py",
    "gate/tokens.py",
    "gate/operation.py",
    "domain/capability.py",
    "domain/policy.py",
    "domain/proof.py",
)
TESTS = (
    "gate",
    "domain/test_jws.py",
    "conversation/test_rights.py",
    "conversation/test_attenuation.py",
    "conversation/test_via.py",
    "conversation/test_own_sessions.py",
    "conversation/test_isolation.py",
    "conversation/test_keys.py",
    "conversation/test_narrow_writing.py",
    "conversation/test_session_namespace.py",
    "security/test_late_rows.py",
    "security/test_lineage.py",
    "security/test_verdicts.py",
    "security/test_reused_keys.py",
    "security/test_session_keys.py",
    "security/test_narrow_status.py",
)
SOONEST = "test_oracle.py"
"""What notices most defects, and so runs first."""
MOST_SECONDS = 1200
OPPOSITES = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def defects(tree: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
    """What can be changed in the functions of a module: each place, and what stands there instead."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    places = {id(node): node for function in functions for part in function.body for node in ast.walk(part)}
    return [(node, other) for node in places.values() for other in _instead_of(node)]


def _instead_of(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in OPPOSITES:
            yield _with(node, ops=[OPPOSITES[type(operator)]()])
        case ast.BoolOp(op=operator) | ast.BinOp(op=operator) if type(operator) in OPPOSITES:
            yield _with(node, op=OPPOSITES[type(operator)]())
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.If():
            yield _with(node, test=ast.Constant(False))
            yield _with(node, test=ast.Constant(True))
        case ast.Expr(value=ast.Call()) | ast.Raise():
            yield ast.Pass()
        case ast.Return(value=ast.expr()):
            yield _with(node, value=ast.Constant(None))
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield ast.Constant(value + 1)


def _with(node: ast.AST, **changed: object) -> ast.AST:
    made = copy.copy(node)
    for name, value in changed.items():
        setattr(made, name, value)
    return made


class _Replacing(ast.NodeTransformer):
    def __init__(self, node: ast.AST, other: ast.AST) -> None:
        self._node = node
        self._other = other

    def visit(self, node: ast.AST) -> ast.AST:
        return ast.copy_location(self._other, node) if node is self._node else self.generic_visit(node)


class Defect(NamedTuple):
    source: str
    place: int
    told: str

    def make(self) -> None:
        """Give every function of the loaded module the code that it has with the defect."""
        module = importlib.import_module("souvenance." + self.source.removesuffix(".py").replace("/", "."))
        tree = ast.parse(Path(module.__file__).read_bytes())
        changed = _Replacing(*defects(tree)[self.place]).visit(tree)
        codes = dict(_codes(compile(ast.fix_missing_locations(changed), module.__file__, "exec")))
        gc.unfreeze()  # What is frozen is not listed.
        for function in gc.get_objects():
            if isinstance(function, FunctionType) and function.__code__.co_filename == module.__file__:
                function.__code__ = codes.get(_name(function.__code__), function.__code__)


def _name(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _codes(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    """Every piece of code in that one, by its name and line."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield _name(one), one
            yield from _codes(one)


def sample(seed: int, count: int) -> list[Defect]:
    found = []
    for name in SOURCES:
        tree = ast.parse((ROOT / "src/souvenance" / name).read_bytes())
        found += [Defect(name, place, _told(name, *one)) for place, one in enumerate(defects(tree))]
    return random.Random(seed).sample(found, count)


def _told(name: str, node: ast.AST, other: ast.AST) -> str:
    """The place, and the first line of what stood there and of what stands there."""
    was, now = (ast.unparse(ast.fix_missing_locations(one)).partition("\n")[0] for one in (node, other))
    return f"{name}:{node.lineno}: {was}  ->  {now}"


class Mutation:
    """A plugin: instead of once, the collected tests run with each defect, in a fork of the process."""

    def __init__(self, defects: list[Defect]) -> None:
        self._defects = defects

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        session.items.sort(key=lambda item: item.path.name != SOONEST)
        for defect in (None, *self._defects):
            ours, self._told = os.pipe()
            process = os.fork()
            if process == 0:
                self._begin(defect)
                return None
            os.close(self._told)
            with open(ours) as told:
                noticed = told.read()
            ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            if defect is None:
                assert ended == 0, f"{noticed} fails without a defect"
            else:
                fate = "SURVIVES" if ended == 0 else "hangs" if ended == -signal.SIGALRM else "dies"
                print(f"{fate:9}{defect.told}  ({noticed})", flush=True)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            os.write(self._told, report.nodeid.encode())

    def _begin(self, defect: Defect | None) -> None:
        signal.alarm(MOST_SECONDS)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        if defect is not None:
            defect.make()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=60, help="how many defects")
    options.add_argument("--tests", type=Path, default=ROOT / "tests", help="the tests of another checkout")
    asked = options.parse_args()
    sys.path[:] = [one for one in sys.path if Path(one) != Path(__file__).parent]
    os.chdir(asked.tests.parent)
    tests = [str(asked.tests / one) for one in TESTS]
    plugin = Mutation(sample(asked.seed, asked.count))
    sys.exit(pytest.main(["-n", "0", "-x", "-q", "-s", "--no-header", *tests], [plugin]))


if __name__ == "__main__":
    main()
