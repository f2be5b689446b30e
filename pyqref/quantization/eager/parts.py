"""Lets the quantizable layers prepare and convert their own parts."""

from __future__ import annotations

from typing import Any

from pyqref.nn.quantizable.workflow import register_workflow

from .convert import convert
from .prepare import prepare, prepare_qat

__all__: list[str] = []


def _prepare(module: Any) -> Any:
    return prepare(module, inplace=True)


def _prepare_qat(module: Any) -> Any:
    return prepare_qat(module, inplace=True)


def _convert(module: Any) -> Any:
    return convert(module, inplace=False, remove_qconfig=True)


register_workflow(_prepare, _prepare_qat, _convert)
