"""The house holds: floors import downward only, files form no circle, and stay short."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pyqref
from pyqref._lazy import LATER

PACKAGE = Path(pyqref.__file__).parent

# The longest prefix that matches a module tells its floor.
FLOORS: dict[str, float] = {
    "pyqref": 9,
    "pyqref.version": 0,
    "pyqref._lazy": 0,
    "pyqref._typing": 0,
    "pyqref._insides": 0,
    "pyqref._advice": 0,
    "pyqref._advice_packages": 0,
    "pyqref._advice_table": 0,
    "pyqref._problems": 0,
    "pyqref._other_paths": 0,
    "pyqref._other_paths_table": 0,
    "pyqref.dtypes": 0,
    "pyqref.backends": 0,
    "pyqref.numerics": 1,
    "pyqref._kernels": 2,
    "pyqref.kernels": 2,
    "pyqref.tape": 3.0,
    "pyqref.tensor": 3.1,
    "pyqref.autograd": 3.2,
    "pyqref.library": 3.2,
    "pyqref.serialization": 4,
    "pyqref.optim": 4,
    "pyqref.utils": 4,
    "pyqref.fx": 4,
    "pyqref.nn.functional": 4,
    "pyqref.nn.gain": 4,
    "pyqref.nn.init": 4,
    "pyqref.nn.module_path": 4,
    "pyqref.nn.modules": 4,
    "pyqref.nn.parameter": 4,
    "pyqref.nn.uninitialized": 4,
    "pyqref.nn.utils": 4,
    "pyqref.ops": 5,
    "pyqref.nn": 5,
    "pyqref.quantization": 6,
    "pyqref.quantization.fx": 7,
    "pyqref.quantization.quantize_fx": 7,
    "pyqref.quantization.mixed_precision": 8,
    "pyqref.ao": 8,
    "pyqref._C": 3.2,
    "pyqref._dynamo": 8,
    "pyqref.onnx": 3.2,
    "pyqref.types": 3.2,
    "pyqref.func": 5,
    "pyqref.explaining": 8,
    "pyqref.course": 8,
    "pyqref.testing": 8.1,
    "pyqref.export": 8,
    "pyqref.measure": 8,
    "pyqref.arithmetic": 8,
    "pyqref.run": 8,
    "pyqref.devices": 0,
    "pyqref.jit": 8,
    "pyqref.plot": 8,
    "pyqref.profiler": 8,
    "pyqref.autograd.profiler": 8,
    "pyqref.amp": 8,
    "pyqref.hub": 8,
    "pyqref.compiler": 8,
    "pyqref.utils.checkpoint": 5,
    "pyqref.utils.mobile_optimizer": 8,
    "pyqref.utils.model_zoo": 8,
    "pyqref.nn.parallel": 4,
    # These use the package as its users do.
    "pyqref.sphinx": 10,
    "pyqref.cli": 10,
    "pyqref.demo": 10,
    "pyqref.__main__": 10,
}


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
TESTS = Path(__file__).parent
STUBS = {path for path in PACKAGE.rglob("*.pyi") if path.name == "__init__.pyi"}
COMPILED = {_name(path) for path in PACKAGE.rglob("*.pyi") if path not in STUBS}
COMPILED_SUFFIXES = {".pyx", ".pxd", ".h"}


def _floor(module: str) -> float:
    while module not in FLOORS:
        module = module.rpartition(".")[0]
    return FLOORS[module]


def _imported_by(stub: str) -> str:
    """Return a stub without the modules of the package that wait until a user asks for them."""
    now, _, later = stub.partition(LATER)
    lines = [line for line in later.splitlines() if not line.startswith("from . import ")]
    return "\n".join([now, *lines])


@cache
def _imports(module: str) -> frozenset[str]:
    """Modules of the package that a module imports, wherever in its text or in its stub.

    Of the home of types, without what type checkers alone import.
    """
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if (stub := path.with_suffix(".pyi")) in STUBS:
        tree.body += ast.parse(_imported_by(stub.read_text(encoding="utf-8"))).body
    if module == "pyqref._typing":
        tree.body = [each for each in tree.body if not isinstance(each, ast.If)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                parts = parts[: len(parts) - node.level + 1]
                base = ".".join([*parts, base]) if base else ".".join(parts)
            for each in node.names:
                whole = f"{base}.{each.name}"
                found.add(whole if whole in MODULES or whole in COMPILED else base)
    return frozenset(each for each in found if each in MODULES and each != module)


def test_imports_run_downward() -> None:
    """No module imports one that stands on a floor above its own."""
    upward = [
        f"{module} (floor {_floor(module)}) imports {target} (floor {_floor(target)})"
        for module in MODULES
        for target in _imports(module)
        if _floor(target) > _floor(module)
    ]
    assert [] == upward


def test_files_form_no_circle() -> None:
    """No two files import each other, directly or through others."""
    state: dict[str, str] = {}
    circles: list[str] = []

    def visit(module: str, trail: tuple[str, ...]) -> None:
        state[module] = "open"
        for target in sorted(_imports(module)):
            if state.get(target) == "open":
                circles.append(" -> ".join([*trail[trail.index(target) :], target]))
            elif target not in state:
                visit(target, (*trail, target))
        state[module] = "done"

    for module in MODULES:
        if module not in state:
            visit(module, (module,))
    assert [] == circles


def test_no_torch_at_run_time() -> None:
    """No module of the package imports torch, except where interoperation is asked for."""
    importing = [
        module
        for module, path in MODULES.items()
        if not module.startswith("pyqref.interop")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (
            isinstance(node, ast.Import)
            and any(n.name.split(".")[0] == "torch" for n in node.names)
        )
        or (
            isinstance(node, ast.ImportFrom)
            and (node.module or "").split(".")[0] == "torch"
            and not node.level
        )
    ]
    assert [] == importing


def test_files_stay_short() -> None:
    """One concept a file, tests too: none passes 400 lines, but for stubs, lists of names."""
    ours = MODULES.values()
    sources = TESTS.parent / "pyqref" / "_kernels"  # an installed package has none
    compiled = [path for path in sorted(sources.rglob("*.*")) if path.suffix in COMPILED_SUFFIXES]
    assert len(compiled) > 50
    long = {
        str(path): count
        for path in [*ours, *compiled, *sorted(TESTS.rglob("*.py"))]
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert {} == long


def test_no_star_imports() -> None:
    """Names are re-exported one by one."""
    starred = [
        str(path)
        for path in [*MODULES.values(), *STUBS]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names)
    ]
    assert [] == starred
