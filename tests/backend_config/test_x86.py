"""The back end configuration of the engine "x86"."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import pyqref


def described(library: Any) -> list[str]:
    """Each pattern with its observation type and data types, without the name of the library."""
    import_module(f"{library.__name__}.ao.quantization.quantize_fx")
    module = import_module(f"{library.__name__}.ao.quantization.backend_config.x86")
    return [
        str((str(each.observation_type), each.dtype_configs)).replace("torch.", "pyqref.")
        for each in module.get_x86_backend_config().configs
    ]


def test_as_torch() -> None:
    """The back end lists torch's patterns in torch's order, each with the same types."""
    torch = pytest.importorskip("torch")
    assert described(torch) == described(pyqref)
