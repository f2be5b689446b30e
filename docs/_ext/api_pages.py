"""Write the API reference: a page for each package, and one for each of its classes.

What is public is what a package names in ``__all__``, so no page can be forgotten. The
pages of classes stand outside the table of contents, whose sidebar would otherwise list
hundreds of them on every page; the tables of the package pages lead to them.
"""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, get_origin

PACKAGES = [
    "pyqref.quantization",
    "pyqref.quantization.quantize_fx",
    "pyqref.quantization._learnable_fake_quantize",
    "pyqref.quantization.repair",
    "pyqref.quantization.mixed_precision",
    "pyqref.quantization.backend_config",
    "pyqref.quantization.fx",
    "pyqref.quantization.fx.custom_config",
    "pyqref.quantization.fx.numeric_suite",
    "pyqref.quantization.fx._model_report",
    "pyqref.quantization.fx.utils",
    "pyqref.nn.quantized",
    "pyqref.nn.quantized.functional",
    "pyqref.nn.quantized.dynamic",
    "pyqref.nn.quantized.reference",
    "pyqref.nn.quantizable",
    "pyqref.nn.intrinsic",
    "pyqref.nn.intrinsic.qat",
    "pyqref.nn.intrinsic.quantized",
    "pyqref.nn.intrinsic.quantized.dynamic",
    "pyqref.nn.qat",
    "pyqref.nn.qat.dynamic",
    "pyqref.ops.quantized",
    "pyqref.backends.quantized",
    "pyqref.dtypes",
    "pyqref.nn",
    "pyqref.nn.functional",
    "pyqref.nn.init",
    "pyqref.nn.utils",
    "pyqref",
    "pyqref.ops",
    "pyqref.numerics",
    "pyqref.kernels",
    "pyqref.tape",
    "pyqref.tape.operation",
    "pyqref.tape.engine",
    "pyqref.tensor",
    "pyqref.tensor.learnable_fake_quantize",
    "pyqref.tensor.dispatch",
    "pyqref.autograd",
    "pyqref.autograd.functional",
    "pyqref.library",
    "pyqref.optim",
    "pyqref.optim.lr_scheduler",
    "pyqref.fx",
    "pyqref.fx.experimental.optimization",
    "pyqref.utils.data",
    "pyqref.serialization",
    "pyqref.interop",
    "pyqref.export",
    "pyqref.course",
    "pyqref.course.museum",
    "pyqref.measure",
    "pyqref.arithmetic",
    "pyqref.explaining",
    "pyqref.explaining.accounting",
    "pyqref.plot",
    "pyqref.sphinx",
    "pyqref.sphinx.interactive",
    "pyqref.jit",
    "pyqref.profiler",
    "pyqref.autograd.profiler",
    "pyqref.amp",
    "pyqref.cuda",
    "pyqref.cuda.amp",
    "pyqref.xpu",
    "pyqref.accelerator",
    "pyqref.backends.cudnn",
    "pyqref.backends.cuda",
    "pyqref.backends.mkldnn",
    "pyqref.backends.mkl",
    "pyqref.backends.openmp",
    "pyqref.backends.mps",
    "pyqref.compiler",
    "pyqref.distributed",
    "pyqref.nn.parallel",
    "pyqref.multiprocessing",
    "pyqref.hub",
    "pyqref.utils.model_zoo",
    "pyqref.utils.benchmark",
    "pyqref.utils.checkpoint",
    "pyqref.utils.mobile_optimizer",
    "pyqref.random",
    "pyqref.testing",
    "pyqref.testing.strategies",
    "pyqref.__config__",
]


def packages() -> list[str]:
    """The packages above, and every file of equations."""
    import pyqref

    equations = sorted((Path(pyqref.__file__).parent / "numerics").glob("[a-z]*.py"))
    equations = [path for path in equations if path.stem != "types"]
    return PACKAGES + [f"pyqref.numerics.{path.stem}" for path in equations]


def _title(text: str, mark: str = "=") -> str:
    return f"{text}\n{mark * len(text)}\n\n"


def public_names(module: ModuleType, elsewhere: set[int]) -> tuple[list[str], list[str]]:
    """Names of the public classes and functions of a package that no earlier page holds."""
    classes, functions = [], []
    for name in getattr(module, "__all__", []):
        value = getattr(module, name)
        if id(value) in elsewhere or getattr(value, "__name__", name) != name:
            continue
        if f"{module.__name__}.{name}" in PACKAGES:
            continue
        home = getattr(value, "__module__", None) or ""
        if home.startswith("pyqref.nn.modules.") and module.__name__ != "pyqref.nn":
            continue  # a float layer that a package has under its own name, too
        elsewhere.add(id(value))
        if inspect.isclass(value):
            classes.append(name)
        elif callable(value) and not isinstance(value, ModuleType) and hasattr(value, "__name__"):
            functions.append(name)
    return classes, functions


def package_page(name: str, classes: list[str], functions: list[str]) -> str:
    """The page of one package: its docstring, a table of its classes, its functions."""
    text = _title(name) + f".. automodule:: {name}\n   :no-members:\n\n"
    module = importlib.import_module(name)
    errors = [each for each in classes if issubclass(getattr(module, each), Exception)]
    others = [each for each in classes if each not in errors]
    for title, names in (("Classes", others), ("Warnings and errors", errors)):
        if names:
            rows = "".join(f"   {each}\n" for each in names)
            text += f"{_title(title, '-')}.. autosummary::\n   :nosignatures:\n\n{rows}\n"
    if functions:
        text += _title("Functions", "-")
        if name.rpartition(".")[2] in functions:  # pyqref.tensor, to which its source links back
            text += f'.. raw:: html\n\n   <a id="{name}"></a>\n\n'
        text += "".join(
            f".. autofunction:: {each}\n\n.. used-in:: {name}.{each}\n\n" for each in functions
        )
    return text


def class_page(package: str, name: str) -> str:
    """The page of one class, with its members but those of bases that have a page."""
    subject = getattr(importlib.import_module(package), name)
    known = [each for each in subject.__mro__[1:] if _can_be_looked_up(each)]
    bases = [each.__name__ for base in known for each in base.__mro__]
    shown = "   :show-inheritance:\n" if set(bases) - {"object"} else ""
    return (
        f":orphan:\n\n{_title(name)}.. currentmodule:: {package}\n\n"
        f".. autoclass:: {name}\n   :members:\n"
        f"   :inherited-members: {', '.join(dict.fromkeys(bases))}\n{shown}\n"
        f".. minigallery:: {package}.{name}\n"
        "   :add-heading: Tutorials that use it\n   :heading-level: -\n"
    )


def _pages() -> dict[str, str]:
    pages = {}
    elsewhere: set[int] = set()
    for package in packages():
        classes, functions = public_names(importlib.import_module(package), elsewhere)
        pages[f"{package}.rst"] = package_page(package, classes, functions)
        for name in classes:
            pages[f"classes/{package}.{name}.rst"] = class_page(package, name)
    return pages


def write_pages(app: Any, config: Any) -> None:
    """Write all pages below ``api/generated``, leaving those that did not change."""
    folder = Path(app.srcdir) / "api" / "generated"
    pages = _pages()
    (folder / "classes").mkdir(parents=True, exist_ok=True)
    for path in folder.rglob("*.rst"):
        if path.relative_to(folder).as_posix() not in pages:
            path.unlink()

    for name, text in pages.items():
        target = folder / name
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")


def link_equations(
    app: Any, what: str, name: str, subject: Any, options: Any, lines: list[str]
) -> None:
    """Put the number of an equation behind its label, as a link to it."""
    lines[:] = [re.sub(r"``(eq-[a-z0-9-]+)``", r"``\1`` :eq:`\1`", line) for line in lines]


def documented_bases(app: Any, name: str, subject: Any, options: Any, bases: list[Any]) -> None:
    """Replace a base without a page by the first of its own bases that has one."""
    # NamedTuple, as a base, is a function and has no bases of its own.
    classes = [get_origin(base) or base for base in bases]
    chains = [getattr(each, "__mro__", (each,)) for each in classes]
    first = [next(filter(_can_be_looked_up, chain), object) for chain in chains]
    bases[:] = list(dict.fromkeys(each for each in first if each not in (object, Generic)))


def _can_be_looked_up(subject: type) -> bool:
    """Return True if a class has a page here, or is documented by Python."""
    return id(subject) in _documented() or not subject.__module__.startswith("pyqref")


@cache
def _documented() -> frozenset[int]:
    seen: set[int] = set()
    for package in packages():
        public_names(importlib.import_module(package), seen)
    return frozenset(seen)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx; the pages are there before it looks for its sources."""
    app.connect("config-inited", write_pages)
    app.connect("autodoc-process-docstring", link_equations)
    app.connect("autodoc-process-bases", documented_bases)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
