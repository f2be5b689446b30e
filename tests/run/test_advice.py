"""One table answers for the names of torch that are not here, wherever one meets them."""

from __future__ import annotations

import importlib

import pytest

import pyqref
from pyqref._advice import advice, package_advice, rows
from pyqref._advice_packages import PACKAGES
from pyqref._advice_table import TABLE
from pyqref.run.torch_module import NOT_TORCH


def _is_here(name: str) -> bool:
    """Return True if ``torch.<name>`` is a name of pyqref."""
    if name in NOT_TORCH:
        return False
    found: object = pyqref
    path = "pyqref"
    for part in name.split("."):
        path = f"{path}.{part}"
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = importlib.import_module(path)
            except ImportError:
                return False
    return True


@pytest.mark.parametrize("name", [each for each in rows() if not each.endswith(".*")])
def test_an_entry_is_absent(name):
    """A name that pyqref has needs no advice, and has no entry in the table."""
    assert not _is_here(name)


def test_names_stand_in_the_table_once():
    """Otherwise one advice would hide the other."""
    names = [name for _, its_names in TABLE for name in its_names.split()]
    assert sorted(set(names)) == sorted(names)


def test_each_advice_is_a_sentence_without_its_end():
    """It follows a semicolon in the messages."""
    for text in [*(text for text, _ in TABLE), *PACKAGES.values()]:
        assert text == text.strip().rstrip(".")


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("vmap", "loop over the batch"),
        ("fft.rfft", "use numpy.fft"),
        ("distributed.all_reduce", "pyqref runs in one process"),
        ("ao.quantization.quantizer.xnnpack_quantizer", "use torch.ao.quantization.quantize_fx"),
        ("quantization.prepare_dynamic_jit", "pyqref quantizes Python modules"),
        ("Tensor.svd", "use numpy.linalg"),
        ("distributed", ""),
        ("nowhere", ""),
    ],
)
def test_the_longest_front_of_a_name_answers(name, start):
    """``distributed.*`` answers for names below it, ``fft`` also for itself."""
    found = advice(name)
    assert found.startswith(start)
    assert bool(start) == bool(found)


def test_packages():
    """Packages are known by their first name."""
    assert package_advice("torchvision.models").startswith("pip install torchvision --no-deps")
    assert "" == package_advice("numpy")


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: pyqref.fft.rfft(0), "module 'pyqref' has no attribute 'fft'; use numpy.fft on"),
        (lambda: pyqref.vmap, "attribute 'vmap'; loop over the batch"),
        (lambda: pyqref.utils.tensorboard, "attribute 'tensorboard'; install tensorboardX"),
        (lambda: pyqref.ones(1).to_sparse(), "'Tensor' object has no attribute 'to_sparse'; pyq"),
        (lambda: pyqref.ones(1).svd(), "'Tensor' object has no attribute 'svd'; use numpy.linalg"),
        (lambda: pyqref.nn.Lineer, "module 'pyqref.nn' has no attribute 'Lineer'$"),
        (lambda: pyqref.ones(1).nowhere, "'Tensor' object has no attribute 'nowhere'$"),
    ],
)
def test_an_attribute_that_is_not_here(use, message):
    """The error says what to do, and names attribute and owner: Python suggests others by them."""
    with pytest.raises(AttributeError, match=message) as caught:
        use()
    assert caught.value.name in message
    assert caught.value.obj is not None
