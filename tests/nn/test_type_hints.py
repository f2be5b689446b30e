"""``typing.get_type_hints`` reads the annotations of every class, as libraries do."""

from __future__ import annotations

import importlib
import inspect
import typing

import pytest

NAMESPACES = (
    "pyqref",
    "pyqref.nn",
    "pyqref.nn.intrinsic",
    "pyqref.nn.qat",
    "pyqref.nn.quantizable",
    "pyqref.nn.quantized",
    "pyqref.nn.quantized.dynamic",
    "pyqref.quantization",
    "pyqref.optim",
    "pyqref.utils.data",
    "pyqref.fx",
    "pyqref.autograd",
)


@pytest.mark.parametrize("name", NAMESPACES)
def test_type_hints(name):
    """No annotation names what its module does not have."""
    module = importlib.import_module(name)
    for key in module.__all__:
        each = getattr(module, key)
        if isinstance(each, type):
            typing.get_type_hints(each)
            for _, method in inspect.getmembers(each, inspect.isfunction):
                typing.get_type_hints(method)
