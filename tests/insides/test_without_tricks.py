"""Each trick of ``pyqref._insides`` can be absent, with the effect that its file describes."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import fx, nn
from pyqref._insides import bytecode, stack
from pyqref.fx import interception
from pyqref.fx.errors import TraceError
from pyqref.nn import functional as F
from pyqref.nn import quantized as nnq
from pyqref.nn.module_path import running_module
from pyqref.tensor.diagnostics import QuantizationWarning, warn


class Net(nn.Module):
    """A convolution, a function and a method."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3, padding=1)

    def forward(self, x: Any) -> Any:
        return F.relu(self.conv(x)).mean((2, 3))


def trained(seed: int = 0) -> list[Any]:
    """A result, and the gradients of a network with fixed weights."""
    pyqref.manual_seed(seed)
    net, x = Net(), pyqref.randn(3, 2, 7, 6, requires_grad=True)
    y = net(x)
    y.square().sum().backward()
    return [y.tolist(), x.grad.tolist(), *(each.grad.tolist() for each in net.parameters())]


def quantized(seed: int = 0) -> list[Any]:
    """Return the results of layers on integers, from a few bytes to 4 MiB."""
    pyqref.manual_seed(seed)
    found: list[Any] = []
    for size in (4, 20, 40, 2100):
        x = pyqref.quantize_per_tensor(pyqref.randn(1, 2, size, 32), 0.05, 128, pyqref.quint8)
        weight = pyqref.quantize_per_tensor(pyqref.randn(32, 2, 3, 3), 0.05, 0, pyqref.qint8)
        layer = nnq.Conv2d(2, 32, 3, padding=1)
        layer.set_weight_bias(weight, pyqref.randn(32))
        y = layer(x)
        found += [y.int_repr().numpy().tobytes(), y.dequantize().numpy().tobytes()]
    return found


@pytest.fixture
def no_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python that does not tell who called."""
    monkeypatch.setattr(stack, "_getframe", None)


def test_numbers_are_the_same_without_the_stack(no_stack: None) -> None:
    """Nobody asks for a caller whose answer is a number."""
    without = trained(), quantized()
    with pytest.MonkeyPatch.context() as again:
        again.setattr(stack, "_getframe", sys._getframe)
        assert (trained(), quantized()) == without


def test_messages_name_a_layer_without_its_path(no_stack: None) -> None:
    model = nn.Sequential(nn.Sequential(nnq.Conv2d(1, 1, 1)))
    with pytest.raises(RuntimeError, match=r"^QuantizedConv2d takes a quantized tensor"):
        model(pyqref.ones(1, 1, 1, 1))
    assert running_module() is None
    with pytest.raises(RuntimeError, match="quint8"):
        pyqref.quantize_per_tensor(pyqref.ones(1), 1.0, 0, pyqref.quint8).sqrt()


def test_warnings_are_given_all_the_same(no_stack: None) -> None:
    with pytest.warns(QuantizationWarning, match="something"):
        warn("something", QuantizationWarning)


def test_models_are_traced_without_the_stack(no_stack: None) -> None:
    """Models are traced, but ``wrap`` refuses, and unpacking does, too."""
    traced, x = fx.symbolic_trace(Net()), pyqref.randn(1, 2, 4, 4)
    assert traced(x).shape == (1, 3)
    with pytest.raises(NotImplementedError, match="top level of a module"):
        fx.wrap("nothing")
    with pytest.raises(TraceError):
        fx.symbolic_trace(_unpacks)


def _unpacks(x: Any) -> Any:
    first, second = x
    return first + second


def test_errors_keep_their_words_without_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fx.symbolic_trace(_unpacks)([1, 2]) == 3
    monkeypatch.setattr(bytecode, "_RAISE", None)
    monkeypatch.setattr(bytecode, "_UNPACK", "")
    with pytest.raises(TypeError):
        pyqref.ones(2).reshape("two")
    with pytest.raises(TraceError):
        fx.symbolic_trace(_unpacks)


def test_methods_are_traced_where_code_cannot_be_exchanged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A function is then called with the stand-in, and refuses it."""
    gc.collect()  # stand-ins of other tests, while which live functions are exchanged already
    monkeypatch.setattr(interception, "exchange", lambda function, code: None)
    assert fx.symbolic_trace(lambda x: x.relu())(pyqref.ones(1)).tolist() == [1.0]
    with pytest.raises((TypeError, TraceError)):
        fx.symbolic_trace(F.relu)


@pytest.fixture
def nothing_used_again() -> Iterator[None]:
    memory = pytest.importorskip("pyqref._kernels.memory", reason="nothing was compiled")
    before = memory.reuse_results(False)
    yield
    memory.reuse_results(before)


def test_results_are_the_same_in_memory_of_their_own(nothing_used_again: None) -> None:
    """Results are the same if every array has NumPy's own memory and shares none that was freed."""
    from pyqref._kernels import memory

    without = quantized()
    large = pyqref.quantize_per_tensor(pyqref.ones(1 << 22), 1.0, 0, pyqref.quint8)
    assert large._array.base is None
    memory.reuse_results(True)
    assert without == quantized()


_C_HEAP = """
import pyqref._insides.c_heap as heap
told = []
own, heap.keep_what_is_freed = heap.keep_what_is_freed, lambda: told.append(1)
import pyqref
assert [] == told
y = pyqref.quantize_per_tensor(pyqref.ones(3), 0.5, 1, pyqref.quint8).int_repr().tolist()
assert [3, 3, 3] == y and [1] == told, (y, told)
assert own() is None
"""


def test_the_c_library_is_told_at_the_first_use_of_a_kernel_and_not_by_an_import() -> None:
    """The C library is told at the first use of a kernel, and results do not depend on it."""
    subprocess.run([sys.executable, "-c", _C_HEAP], check=True)


def test_numpy_is_quiet_by_its_documented_function_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """See also ``tests/insides/test_numpy_errors.py``."""
    from pyqref._insides import numpy_errors

    documented = numpy_errors.AsDocumented()
    for place in (numpy_errors, import_module("pyqref.tensor.dispatch")):
        monkeypatch.setattr(place, "ERRORS", documented)
        monkeypatch.setattr(place, "IGNORED", {"all": "ignore"})
    before = np.geterr()
    x = pyqref.zeros(1, requires_grad=True)
    (1 / x).backward()
    assert [-np.inf] == x.grad.tolist()
    assert before == np.geterr()
