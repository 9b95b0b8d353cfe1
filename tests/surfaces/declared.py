"""The operations that the resources of conversations declare."""

from importlib import import_module
from pkgutil import iter_modules

from souvenance.gate import conversation
from souvenance.gate.operation import Operation

RESOURCES = [
    import_module(f"{conversation.__name__}.{module.name}") for module in iter_modules(conversation.__path__)
]
OPERATIONS: list[Operation] = [
    one for module in RESOURCES for one in vars(module).values() if isinstance(one, Operation)
]
