"""Every class of the quantization system shows itself at work."""

from __future__ import annotations

import importlib
import inspect

import pytest

import pyqref

PACKAGES = [
    "pyqref.quantization",
    "pyqref.quantization.backend_config",
    "pyqref.quantization.fx.custom_config",
    "pyqref.quantization.quantize_fx",
    "pyqref.nn.quantized",
    "pyqref.nn.quantized.dynamic",
    "pyqref.nn.quantized.reference",
    "pyqref.nn.quantizable",
    "pyqref.nn.intrinsic",
    "pyqref.nn.intrinsic.qat",
    "pyqref.nn.intrinsic.quantized",
    "pyqref.nn.intrinsic.quantized.dynamic",
    "pyqref.nn.qat",
    "pyqref.nn.qat.dynamic",
    "pyqref.fx",
    "pyqref.ao.quantization",
    "pyqref.ao.nn.quantized",
    "pyqref.ao.nn.intrinsic",
    "pyqref.ao.nn.qat",
    "pyqref.nn",
    "pyqref.optim",
    "pyqref.optim.lr_scheduler",
    "pyqref.utils.data",
]
"""Here each class must have an example; of functions those too on which workflows stand."""

FUNCTIONS = ["pyqref.quantization", "pyqref.quantization.quantize_fx", "pyqref.nn.intrinsic.qat"]


def without_example(package: str, wanted: object) -> list[str]:
    """Public names of a package, of classes or functions, whose docstring runs nothing."""
    module = importlib.import_module(package)
    names = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
    found = {name: getattr(module, name) for name in names}
    return [
        name
        for name, value in found.items()
        if wanted(value)  # type: ignore[operator]
        and value.__module__.startswith(pyqref.__name__)
        and ">>> " not in (value.__doc__ or "")
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_class_has_an_example(package: str) -> None:
    """The docstring of the class itself, not one that it inherits, has a doctest."""
    assert [] == without_example(package, inspect.isclass)


@pytest.mark.parametrize("package", FUNCTIONS)
def test_every_function_of_the_workflow_has_an_example(package: str) -> None:
    """Functions that prepare, convert, configure or look something up have a doctest."""
    assert [] == without_example(package, inspect.isfunction)
