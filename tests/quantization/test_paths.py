"""The documented paths: every way of importing gives the same objects."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import pyqref

PATHS = {
    "observer": "MinMaxObserver",
    "fake_quantize": "FakeQuantize",
    "qconfig": "get_default_qconfig",
    "stubs": "QuantStub",
    "quantize": "quantize_dynamic",
    "fuse_modules": "fuse_known_modules",
    "fuser_method_mappings": "get_fuser_method",
    "quantization_mappings": "get_default_qat_module_mappings",
    "quant_type": "QuantType",
    "utils": "get_quant_type",
}


def test_ao_is_an_alias() -> None:
    assert pyqref.quantization is pyqref.ao.quantization
    assert pyqref.nn.quantized is pyqref.ao.nn.quantized
    assert pyqref.nn.intrinsic is pyqref.ao.nn.intrinsic
    assert pyqref.nn.qat is pyqref.ao.nn.qat


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("package", ["pyqref.quantization", "pyqref.ao.quantization"])
def test_modules_of_torch(package: str, path: str) -> None:
    module = importlib.import_module(f"{package}.{path}")
    assert hasattr(module, PATHS[path])
    assert module is importlib.import_module(f"pyqref.quantization.{path}")


def test_functions_keep_their_names() -> None:
    """Both quantize and fuse_modules are functions, though modules have these names."""
    for path in ("quantize", "fuse_modules"):
        importlib.import_module(f"pyqref.ao.quantization.{path}")
        assert callable(getattr(pyqref.quantization, path))


@pytest.mark.parametrize(
    "statement",
    [
        "import pyqref.ao.quantization",
        "from pyqref.ao.quantization.observer import MinMaxObserver",
        (
            "import pyqref.ao.quantization.observer.min_max as m; import pyqref; "
            "assert m.MinMaxObserver is pyqref.quantization.MinMaxObserver"
        ),
        (
            "from pyqref.ao.nn.quantized import Linear; import pyqref; "
            "assert Linear is pyqref.nn.quantized.Linear"
        ),
        (
            "import pyqref.ao.nn.quantized.dynamic as d; import pyqref; "
            "assert d is pyqref.nn.quantized.dynamic"
        ),
        (
            "from pyqref.ao.nn.intrinsic.qat import ConvBn2d; import pyqref; "
            "assert ConvBn2d is pyqref.nn.intrinsic.qat.ConvBn2d"
        ),
        "from pyqref.quantization import quantize, fuse_modules; assert callable(quantize)",
        "import pyqref as torch; torch.ao.quantization.MinMaxObserver",
    ],
)
def test_imports_in_a_fresh_interpreter(statement: str, tmp_path: Path) -> None:
    """Whatever is imported first."""
    done = subprocess.run(
        [sys.executable, "-c", statement], capture_output=True, text=True, cwd=tmp_path
    )
    assert (0, "") == (done.returncode, done.stderr)


def test_all_names_exist() -> None:
    for name in pyqref.quantization.__all__:
        assert hasattr(pyqref.quantization, name)


def test_observer_is_the_documented_name_of_the_base() -> None:
    """The guide lists ``Observer``, the abstract base class of observers."""
    assert pyqref.quantization.ObserverBase is pyqref.quantization.Observer
    assert issubclass(pyqref.quantization.MinMaxObserver, pyqref.quantization.Observer)
