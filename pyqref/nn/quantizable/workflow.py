"""Functions to prepare and convert the parts of a layer, set by :mod:`pyqref.quantization`.

The layers stand below the workflow and do not import it; it registers itself here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..._typing import Module

__all__ = ["convert_parts", "prepare_parts", "register_workflow"]


class _Workflow(NamedTuple):
    prepare: Callable[[Any], Any]
    prepare_qat: Callable[[Any], Any]
    convert: Callable[[Any], Any]


_registered: list[_Workflow] = []


def register_workflow(
    prepare: Callable[[Any], Any],
    prepare_qat: Callable[[Any], Any],
    convert: Callable[[Any], Any],
) -> None:
    """Say how a module is prepared (in place), prepared for training (in place) and converted."""
    _registered[:] = [_Workflow(prepare, prepare_qat, convert)]


def _workflow() -> _Workflow:
    if not _registered:
        raise RuntimeError("import pyqref.quantization first: it prepares and converts layers")
    return _registered[0]


def prepare_parts(module: Module) -> Module:
    """Put observers behind the parts of a module that has a qconfig, as its mode asks."""
    workflow = _workflow()
    return (workflow.prepare_qat if module.training else workflow.prepare)(module)


def convert_parts(module: Module) -> Module:
    """A copy of a prepared module with its parts quantized."""
    return _workflow().convert(module)
