"""Write one page of the API reference for each public package, before the build reads them.

What is public is what a package names in ``__all__``, so no page can be forgotten.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGES = [
    "pyqref.quantization",
    "pyqref.nn.quantized",
    "pyqref.nn.quantized.functional",
    "pyqref.nn.quantized.dynamic",
    "pyqref.nn.intrinsic",
    "pyqref.nn.intrinsic.qat",
    "pyqref.nn.intrinsic.quantized",
    "pyqref.nn.qat",
    "pyqref.ops.quantized",
    "pyqref.backends.quantized",
    "pyqref.numerics.rounding",
    "pyqref.numerics.affine",
    "pyqref.numerics.qparams",
    "pyqref.numerics.requantize",
    "pyqref.numerics.linear",
    "pyqref.numerics.convolution",
    "pyqref.numerics.fake_quantize",
    "pyqref.numerics.moving_average",
    "pyqref.numerics.fused_observe",
    "pyqref.numerics.histogram",
    "pyqref.numerics.elementwise",
    "pyqref.numerics.scalar",
    "pyqref.numerics.pooling",
    "pyqref.numerics.interpolate",
    "pyqref.numerics.folding",
    "pyqref.numerics.dynamic",
    "pyqref.numerics.dynamic_qparams",
    "pyqref.numerics.recurrent",
    "pyqref.kernels",
    "pyqref.tape",
    "pyqref.tensor",
    "pyqref.autograd",
    "pyqref.nn",
    "pyqref.nn.functional",
    "pyqref.nn.init",
    "pyqref.optim",
    "pyqref.optim.lr_scheduler",
    "pyqref.utils.data",
    "pyqref.serialization",
    "pyqref.plot",
]


def _title(text: str, mark: str = "=") -> str:
    return f"{text}\n{mark * len(text)}\n\n"


def _table(heading: str, module: str, names: list[str]) -> str:
    if not names:
        return ""
    rows = "".join(f"   {module}.{name}\n" for name in names)
    return f"{_title(heading, '-')}.. autosummary::\n   :toctree: objects\n\n{rows}\n"


def _kind(value: Any) -> str:
    if isinstance(value, ModuleType):
        return "module"
    if inspect.isclass(value):
        return "class"
    return "function" if callable(value) and hasattr(value, "__name__") else "value"


def page(name: str) -> str:
    """The page of one package, as reStructuredText."""
    module = importlib.import_module(name)
    kinds: dict[str, list[str]] = {"class": [], "function": []}
    for each in module.__all__:
        value = getattr(module, each)
        # An object is documented where it lives; other packages only pass it on.
        if _kind(value) in kinds:
            kinds[_kind(value)].append(each)
    return (
        _title(name)
        + f".. automodule:: {name}\n   :no-members:\n\n"
        + _table("Classes", name, kinds["class"])
        + _table("Functions", name, kinds["function"])
    )


def write_pages(app: Any) -> None:
    """Write the pages of all packages below ``api/generated``."""
    folder = Path(app.srcdir) / "api" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    for name in PACKAGES:
        target = folder / f"{name}.rst"
        text = page(name)
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx; runs before autosummary looks for pages to make."""
    app.connect("builder-inited", write_pages, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
