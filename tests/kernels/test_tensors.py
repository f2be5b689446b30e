"""Slots of every tensor."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from pyqref import Tensor, quint8
from pyqref import quantize_per_tensor as quantize
from pyqref._kernels import tensors
from pyqref.nn import Parameter
from pyqref.tensor.quantized import QuantizedTensor

SLOTS = ("_array", "_base", "_changes", "_goes_to", "_grad", "_quantizer")


def floats(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)


class TestNewTensors:
    def test_a_leaf_has_an_array_and_nothing_else(self) -> None:
        x = floats(2, 3)
        for made in (tensors.wrap(x), tensors.leaf(Tensor, x)):
            assert type(made) is Tensor
            assert made._array is x
            assert [getattr(made, slot) for slot in SLOTS[1:]] == [None] * 5
            assert (made.requires_grad, made.is_leaf, made.grad) == (False, True, None)

    def test_a_leaf_of_a_class(self) -> None:
        class Mine(Tensor):
            pass

        made = tensors.leaf(Mine, floats(2))
        assert type(made) is Mine
        made.note = "its own"  # as any object of Python
        assert (made.note, made.tolist()) == ("its own", [0.0, 1.0])

    @pytest.mark.parametrize("kind", [int, object, np.ndarray, None])
    def test_no_other_class(self, kind: Any) -> None:
        """It would have no place for what a tensor holds."""
        with pytest.raises((AttributeError, TypeError)):
            tensors.leaf(kind, floats(1))

    def test_a_quantized_leaf(self) -> None:
        q = quantize(Tensor([1.0]), 0.5, 3, quint8)
        for made in (
            tensors.quantized_leaf(QuantizedTensor, q._array, q._quantizer),
            tensors.wrap_quantized(q._array, q._quantizer),
        ):
            assert type(made) is QuantizedTensor
            assert (made.dequantize().tolist(), made.q_scale()) == ([1.0], 0.5)

    def test_a_result_goes_on(self) -> None:
        edge = (Tensor([1.0], dtype=None).requires_grad_() * 2)._goes_to
        made = tensors.continues(floats(1), edge)
        assert made._goes_to is edge
        assert made.requires_grad

    def test_what_holds_it_lets_it_go(self) -> None:
        """Neither an array nor a tensor stays when nobody has it."""
        x = floats(3)
        made = tensors.wrap(x)
        made._grad, made.cycle = tensors.wrap(x), made
        array, tensor = weakref.ref(x), weakref.ref(made)
        del x, made
        gc.collect()
        assert (array(), tensor()) == (None, None)

    def test_the_counter_of_changes_comes_when_it_is_asked_for(self) -> None:
        made = tensors.wrap(floats(2))
        assert made._changes is None
        counter = made._version
        made.add_(1)
        assert made._version is counter
        assert counter == [1]


class TestFirstGradient:
    def test_it_is_kept_without_a_copy(self) -> None:
        x, gradient = tensors.wrap(floats(2)), floats(2)
        assert tensors.becomes_grad(x, gradient)
        assert x.grad._array is gradient

    def test_it_lies_as_the_tensor_does(self) -> None:
        """Where the tensor has gaps, in C order."""
        x, gradient = tensors.wrap(floats(6).reshape(2, 3).T), floats(6).reshape(3, 2)
        assert not tensors.becomes_grad(x, gradient)
        assert tensors.becomes_grad(x, gradient.T.copy().T)
        assert tensors.becomes_grad(tensors.wrap(floats(4)[::2]), floats(2))

    @pytest.mark.parametrize(
        "gradient", [np.zeros(2), floats(4)[::2], floats(2).astype(">f4")], ids=str
    )
    def test_nothing_happens_to_another(self, gradient: np.ndarray) -> None:
        """float64, with gaps, bytes in the other order."""
        x = tensors.wrap(floats(2))
        assert not tensors.becomes_grad(x, gradient)
        assert x.grad is None

    def test_none_is_refused(self) -> None:
        with pytest.raises((AttributeError, TypeError)):
            tensors.becomes_grad(tensors.wrap(floats(2)), None)

    def test_nothing_happens_to_the_second(self) -> None:
        x, first = tensors.wrap(floats(2)), tensors.wrap(floats(2))
        x.grad = first
        assert not tensors.becomes_grad(x, floats(2))
        assert x.grad is first


class TestRoot:
    def test_where_a_gradient_starts(self) -> None:
        y, gradient = Tensor([1.0, 2.0]).requires_grad_() * 2, Tensor([3.0, 4.0])
        edge, array = tensors.root_of(y, gradient)
        assert edge is y._goes_to
        assert array is gradient._array

    def test_none_where_it_starts_nowhere_or_needs_a_look(self) -> None:
        x = Tensor([1.0, 2.0]).requires_grad_()
        one = Tensor([1.0, 1.0])
        assert tensors.root_of(one, one) is None  # requires no gradient
        assert tensors.root_of(x, None) is None
        assert tensors.root_of(x, floats(2)) is None
        assert tensors.root_of(x, Tensor([1.0])) is None  # another shape
        assert tensors.root_of(x.view(2), one) is None  # a view: its base says where
        assert tensors.root_of(None, one) is None


def test_recording_belongs_to_the_thread() -> None:
    """Each begins by recording, and what one sets no other sees."""
    seen = []
    tensors.set_recording(False)
    try:
        thread = threading.Thread(target=lambda: seen.append(tensors.is_recording()))
        thread.start()
        thread.join()
        assert (seen, tensors.is_recording()) == ([True], False)
    finally:
        tensors.set_recording(True)
    assert tensors.is_recording()


def test_a_tensor_without_fields_is_refused_and_crashes_nothing() -> None:
    """``__new__`` alone puts nothing into the slots, ``del`` takes it away."""
    bare: Any = tensors.TensorSlots.__new__(Tensor)
    emptied = Parameter(Tensor([1.0]))
    del emptied._array, emptied._goes_to, emptied._base
    for each in (bare, emptied):
        with pytest.raises((AttributeError, TypeError)):
            quantize(each, 0.5, 3, quint8)
        with pytest.raises((AttributeError, TypeError, RuntimeError)):
            each.backward(Tensor([1.0]))
