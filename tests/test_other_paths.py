"""Names are found under the module paths that torch has for them."""

from __future__ import annotations

import pkgutil
import warnings
from importlib import import_module

import pytest

import pyqref
from pyqref import _other_paths
from pyqref._other_paths import paths

LISTED = [(path, name) for path, names in paths().items() for name in names]


def test_every_listed_name_is_found() -> None:
    """A listed module can be imported, and has its names."""
    for path, name in LISTED:
        module = import_module(path)
        assert getattr(module, name).__name__
    with pytest.raises(AttributeError, match="conv_fused' has no attribute 'nothing'"):
        _ = import_module("pyqref.nn.intrinsic.qat.modules.conv_fused").nothing


@pytest.mark.parametrize("alias", _other_paths.SAME)
def test_a_second_path_is_the_same_module(alias: str) -> None:
    """``pyqref.ao.quantization.observer`` is ``pyqref.quantization.observer``, and so on."""
    real = import_module(_other_paths.SAME[alias])
    assert real is import_module(alias)
    for each in pkgutil.iter_modules(real.__path__):
        below = f"{real.__name__}.{each.name}"
        assert import_module(below) is import_module(below.replace(real.__name__, alias))
    with pytest.raises(ModuleNotFoundError, match="nothing"):
        import_module(f"{alias}.nothing")
    assert callable(pyqref.quantization.quantize)


def test_the_objects_are_those_of_their_homes() -> None:
    """Identity, of classes under their own names and under others."""
    from pyqref.ao.quantization.observer import _ObserverBase
    from pyqref.nn.intrinsic.qat.modules.conv_fused import ConvBn2d

    from pyqref.nn.modules.conv import _ConvNd
    from pyqref.quantization.observer import UniformQuantizationObserverBase

    assert pyqref.nn.intrinsic.qat.ConvBn2d is ConvBn2d
    assert UniformQuantizationObserverBase is _ObserverBase
    assert issubclass(pyqref.nn.Conv2d, _ConvNd)
    assert issubclass(pyqref.nn.ConvTranspose2d, _ConvNd)


ROOTS = (
    "torch.nn.modules",
    "torch.nn.intrinsic",
    "torch.nn.qat",
    "torch.nn.quantized",
    "torch.nn.quantizable",
    "torch.quantization",
    "torch.ao.quantization",
    "torch.ao.nn",
    "torch.optim",
    "torch.fx",
    "torch.utils.data",
)
#: Parts of torch that pyqref does not have; their modules only import classes from elsewhere.
OUTSIDE = (
    "pt2e",
    "quantizer",
    "experimental",
    "datapipes",
    "sparse.quantized",
    "passes",
    "_adafactor",
    "_multi_tensor",
)


def homes() -> dict[str, set[str]]:
    """The public classes of pyqref by name, with the packages where they stand."""
    found: dict[str, set[str]] = {}
    for each in pkgutil.walk_packages(pyqref.__path__, "pyqref."):
        if each.name.startswith(
            tuple(f"pyqref.{p}" for p in ("nn", "quant", "optim", "fx", "utils"))
        ):
            for name, value in list(vars(import_module(each.name)).items()):
                if isinstance(value, type) and value.__module__ == each.name and name[0] != "_":
                    found.setdefault(name, set()).add(each.name)
    return found


def test_every_class_has_the_path_of_torch() -> None:
    """Every public class that a module of torch defines, and pyqref has, has this path here."""
    pytest.importorskip("torch")
    here, missing = homes(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for root in map(import_module, ROOTS):
            for each in pkgutil.walk_packages(root.__path__, f"{root.__name__}.", lambda _: None):
                if any(part in each.name for part in OUTSIDE):
                    continue
                try:
                    theirs = import_module(each.name)
                except (ImportError, AttributeError):
                    continue
                for name, value in list(vars(theirs).items()):
                    own = isinstance(value, type) and value.__module__ == each.name
                    if own and name in here:
                        path = f"pyqref{each.name.removeprefix('torch')}"
                        try:
                            getattr(import_module(path), name)
                        except (ImportError, AttributeError):
                            missing.append(f"{path}.{name}")
    assert [] == sorted(set(missing))
