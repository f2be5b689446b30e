"""Between Python, NumPy, DLPack and tensors; copies and pickles."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref

TYPES: list[tuple[Any, Any]] = [
    (1, pyqref.int64),
    (1.0, pyqref.float32),
    (True, pyqref.bool),
    ([1, 2.0], pyqref.float32),
    ([True, 1], pyqref.int64),
    ([], pyqref.float32),
    (np.float64(1), pyqref.float64),
    (np.ones(1), pyqref.float64),
    (np.int8([1]), pyqref.int8),
]


@pytest.mark.parametrize(("data", "expected"), TYPES)
def test_type_of_new_tensors(data: Any, expected: Any) -> None:
    """Python numbers take the default types, NumPy's keep their own."""
    assert expected is pyqref.tensor(data).dtype


def test_tensor_copies_and_from_numpy_shares() -> None:
    """from_numpy and numpy() see each other's changes, tensor() does not."""
    array = np.zeros(2, np.float32)
    copied, shared = pyqref.tensor(array), pyqref.from_numpy(array)
    array[0] = 5
    shared[1] = 7
    assert [0.0, 0.0] == copied.tolist()
    assert [5.0, 7.0] == shared.tolist()
    assert [5.0, 7.0] == array.tolist()
    shared.numpy()[0] = 9
    assert 9.0 == array[0]


def test_arrays_that_are_views() -> None:
    """Strides are kept; the storage begins where the array does."""
    array = np.arange(12).reshape(3, 4)[1:, ::2]
    tensor = pyqref.from_numpy(array)
    assert (4, 2) == tensor.stride()
    assert 0 == tensor.storage_offset()
    tensor[0, 0] = -1
    assert -1 == array[0, 0]


def test_numpy_functions_take_tensors() -> None:
    """Asarray shares memory; functions and operators of NumPy work."""
    x = pyqref.arange(3.0)
    assert np.shares_memory(np.asarray(x), x.numpy())
    assert isinstance(np.ones(3) * x, pyqref.Tensor)
    assert isinstance(x * np.ones(3), pyqref.Tensor)
    assert [0.0, 1.0, 2.0] == np.maximum(np.asarray(x), 0).tolist()


def test_dlpack_both_ways() -> None:
    """Memory is shared in either direction."""
    x = pyqref.arange(3)
    array = np.from_dlpack(x)
    back = pyqref.from_dlpack(np.arange(3))
    x[0] = 9
    assert 9 == array[0]
    assert [0, 1, 2] == back.tolist()
    with pytest.raises(BufferError, match="require gradient"):
        pyqref.ones(1, requires_grad=True).__dlpack__()


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: pyqref.tensor([[1], [1, 2]]), ValueError, "equal lengths"),
    (lambda: pyqref.tensor("a"), TypeError, "numbers are needed"),
    (lambda: pyqref.tensor(300, dtype=pyqref.uint8), RuntimeError, "without overflow"),
    (lambda: pyqref.tensor(2**70), RuntimeError, "Overflow"),
    (lambda: pyqref.tensor(1 + 2j), TypeError, "numbers are needed"),
    (lambda: pyqref.tensor(1, dtype="float32"), TypeError, "must be a pyqref dtype"),
    (lambda: pyqref.zeros(2, dtype=pyqref.quint8), RuntimeError, "use quantize_per_tensor"),
    (lambda: pyqref.zeros(2, device="cuda"), RuntimeError, "runs on the CPU only"),
    (lambda: pyqref.zeros(-1), RuntimeError, "negative dimension"),
    (lambda: pyqref.zeros(1.5), TypeError, "made of ints"),
    (lambda: pyqref.zeros(2, colour=1), TypeError, "unexpected keyword argument 'colour'"),
    (lambda: pyqref.from_numpy([1]), TypeError, r"expected np.ndarray \(got list\)"),
    (lambda: pyqref.from_numpy(np.arange(3)[::-1]), ValueError, "negative"),
    (lambda: pyqref.from_numpy(np.array(["a"])), TypeError, "NumPy type"),
    (lambda: pyqref.from_numpy(np.arange(3, dtype=">i4")), ValueError, "byte order"),
    (lambda: pyqref.ones(2).item(), RuntimeError, "2 elements cannot be converted"),
    (lambda: bool(pyqref.ones(2)), RuntimeError, "ambiguous"),
    (lambda: len(pyqref.tensor(1)), TypeError, "0-d tensor"),
    (lambda: pyqref.ones(1, requires_grad=True).numpy(), RuntimeError, "detach"),
    (lambda: pyqref.ones(2, dtype=pyqref.int64, requires_grad=True), RuntimeError, "floating"),
    (lambda: pyqref.ones(2).to(pyqref.qint8), RuntimeError, "quantize_per_tensor"),
    (lambda: pyqref.arange(1, 0), RuntimeError, "inconsistent with step sign"),
    (lambda: pyqref.zeros(2, 3).copy_(pyqref.ones(4)), RuntimeError, "cannot be broadcast"),
    (lambda: pyqref.ones(2).q_scale(), RuntimeError, "not quantized"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_bad_input(number: int) -> None:
    """The error says what was given and what is needed."""
    call, error, text = WRONG[number]
    with pytest.raises(error, match=text):
        call()


def test_deepcopy_keeps_what_a_parameter_is() -> None:
    """Class, requires_grad and shared memory within the copy."""
    base = pyqref.arange(4.0)
    original = [base, base[1:], pyqref.nn.Parameter(pyqref.ones(2))]
    copied = copy.deepcopy(original)
    copied[0][1] = 9.0
    assert 9.0 == copied[1][0].item()
    assert 1.0 == base[1].item()
    assert isinstance(copied[2], pyqref.nn.Parameter)
    assert copied[2].requires_grad
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(original[2] * 2)


def test_pickle() -> None:
    """Elements, class and requires_grad come back."""
    back = pickle.loads(pickle.dumps(pyqref.nn.Parameter(pyqref.arange(3.0))))
    assert isinstance(back, pyqref.nn.Parameter)
    assert back.requires_grad
    assert [0.0, 1.0, 2.0] == back.tolist()


def test_constant_spacing() -> None:
    """arange, linspace, eye, full."""
    assert [0, 1, 2] == pyqref.arange(3).tolist()
    assert [3, 1] == pyqref.arange(3, -1, -2).tolist()
    assert [0.0, 0.5, 1.0] == pyqref.linspace(0, 1, 3).tolist()
    assert [[1.0, 0.0], [0.0, 1.0]] == pyqref.eye(2).tolist()
    assert pyqref.int64 is pyqref.full((2,), 3).dtype
    assert pyqref.float32 is pyqref.full((2,), 3.0).dtype


def test_resize() -> None:
    """Elements stay in order; new ones are zero."""
    x = pyqref.arange(4)
    assert [[0, 1], [2, 3]] == x.resize_(2, 2).tolist()
    assert [0, 1, 2] == x.resize_(3).tolist()
    assert [0, 1, 2, 0, 0] == x.resize_(5).tolist()


@pytest.mark.parametrize("name", ["torch.HalfTensor", "pyqref.HalfTensor", "HalfTensor"])
def test_types_by_their_names(name: str) -> None:
    """Types have the names of torch's scripts; quantized types stand in a package of their own."""
    assert pyqref.ones(1).type(name).dtype is pyqref.float16
    q = pyqref.quantize_per_tensor(pyqref.ones(1), 1.0, 0, pyqref.quint8)
    names = ("pyqref.FloatTensor", "pyqref.quantized.QUInt8Tensor")
    assert names == (pyqref.ones(1).type(), q.type())


def test_unknown_type_is_named() -> None:
    with pytest.raises(ValueError, match=r"must be one of .*, got 'torch\.FooTensor'"):
        pyqref.ones(1).type("torch.FooTensor")


@pytest.mark.parametrize("name", ["FloatTensor", "LongTensor", "ByteTensor"])
def test_a_type_by_its_class(name):
    """``x.type(torch.LongTensor)`` is ``x.type("torch.LongTensor")``."""
    x = pyqref.ones(2)
    expected = x.type(f"torch.{name}")
    assert expected.dtype == x.type(getattr(pyqref, name)).dtype


def test_matplotlib_draws_the_columns_of_a_matrix() -> None:
    """It asks for ``to_numpy``, and would else go through the rows one by one."""
    pyplot = pytest.importorskip("matplotlib.figure")
    axes = pyplot.Figure().subplots()
    x = pyqref.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    lines = axes.plot(x)
    assert [line.get_ydata().tolist() for line in lines] == x.T.tolist()
