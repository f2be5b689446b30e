"""Lazy layers get their shapes, and become ordinary ones, at the first call."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import pyqref
from pyqref import nn
from pyqref.nn.parameter import UninitializedParameter, is_lazy

CASES: list[tuple[str, tuple[Any, ...], tuple[int, ...]]] = [("LazyLinear", (3,), (2, 5))]
for axes in (1, 2, 3):
    shape = (4, 6, *(5,) * axes)
    CASES += [
        (f"LazyConv{axes}d", (4, 3, 1, 1, 1, 2), shape),
        (f"LazyConvTranspose{axes}d", (4, 3, 2, 1, 1, 2, False), shape),
        (f"LazyBatchNorm{axes}d", (), shape),
        (f"LazyInstanceNorm{axes}d", (), shape),
    ]
CASES += [("LazyConv2d", (4, 3), (6, 5, 5))]


def first_call(library: Any, name: str, args: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    library.manual_seed(0)
    layer = getattr(library.nn, name)(*args)
    before = [layer.has_uninitialized_params(), list(layer.state_dict()), repr(layer)]
    output = layer(library.linspace(-1, 1, int(library.ones(shape).numel())).reshape(shape))
    state = {key: value.tolist() for key, value in layer.state_dict().items()}
    return layer, [before, type(layer).__name__, repr(layer), list(output.shape), state]


@pytest.mark.parametrize(("name", "args", "shape"), CASES)
def test_as_torch(name: str, args: tuple[Any, ...], shape: tuple[int, ...]) -> None:
    """Keys, names, first values to the bit."""
    torch = pytest.importorskip("torch")
    _, expected = first_call(torch, name, args, shape)
    _, actual = first_call(pyqref, name, args, shape)
    for one, other in zip(expected[:-1], actual[:-1], strict=True):
        assert one == other
    for key, value in expected[-1].items():
        if "running" in key:
            # A mean of some hundred numbers in [-1, 1].
            assert value == pytest.approx(actual[-1][key], rel=2.0**-16, abs=2.0**-20)
        else:
            assert (key, value) == (key, actual[-1][key])


@pytest.mark.parametrize(("name", "args", "shape"), CASES)
def test_shapes(name: str, args: tuple[Any, ...], shape: tuple[int, ...]) -> None:
    """After the first call it is the layer that an eager script would have made."""
    layer, _ = first_call(pyqref, name, args, shape)
    assert name.removeprefix("Lazy") == type(layer).__name__
    assert not any(map(is_lazy, (*layer.parameters(), *layer.buffers())))
    layer(pyqref.ones(shape)).sum().backward()
    loaded = getattr(nn, name)(*args)
    loaded.load_state_dict(layer.state_dict())
    assert not loaded.has_uninitialized_params()
    x = pyqref.ones(shape)
    assert pyqref.equal(layer.eval()(x), loaded.eval()(x))
    assert repr(layer) == repr(loaded)


def test_copies_and_what_is_refused() -> None:
    """A copy is lazy too; shapes that are not known are not made up."""
    layer = nn.LazyLinear(3)
    copied = copy.deepcopy(layer)
    layer(pyqref.ones(1, 2))
    assert copied.has_uninitialized_params()
    copied(pyqref.ones(1, 4))
    assert (2, 4) == (layer.in_features, copied.in_features)
    with pytest.raises(RuntimeError, match="Call `forward` to initialize"):
        _ = UninitializedParameter().shape
    assert "<UninitializedParameter>" == repr(UninitializedParameter())
    with pytest.raises(RuntimeError, match="Expected 3D"):
        nn.LazyConv2d(2, 1)(pyqref.ones(2, 2))
    with pytest.raises(ValueError, match="out_channels must be divisible by groups"):
        nn.LazyConv2d(3, 1, groups=2)
    with pytest.raises(ValueError, match="in_channels must be divisible by groups"):
        nn.LazyConv2d(4, 1, groups=2)(pyqref.ones(1, 3, 2, 2))


def test_sync_batch_norm() -> None:
    """It computes the numbers of BatchNorm2d, and the conversion takes the tensors over."""
    model = nn.Sequential(nn.Conv2d(2, 3, 1), nn.Sequential(nn.BatchNorm2d(3)), nn.ReLU())
    expected = copy.deepcopy(model)
    tensors = [id(each) for each in (*model.parameters(), *model.buffers())]
    converted = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert converted is model
    assert isinstance(model[1][0], nn.SyncBatchNorm)
    assert tensors == [id(each) for each in (*model.parameters(), *model.buffers())]
    x = pyqref.randn(2, 2, 4, 4)
    assert pyqref.equal(expected(x), model(x))
    assert pyqref.equal(expected.eval()(x), model.eval()(x))
    with pytest.raises(ValueError, match="at least 2D input"):
        nn.SyncBatchNorm(3)(pyqref.ones(3))


def test_transformer_masks() -> None:
    """The future does not change the past, and errors name the sizes."""
    model = nn.Transformer(4, 2, 1, 1, 8, batch_first=True).eval()
    mask = model.generate_square_subsequent_mask(3)
    source, target = pyqref.randn(1, 5, 4), pyqref.randn(1, 3, 4)
    first = model(source, target, tgt_mask=mask)
    target[0, 2] = 9.0
    second = model(source, target, tgt_mask=mask)
    assert pyqref.equal(first[:, :2], second[:, :2])
    assert not pyqref.equal(first[:, 2], second[:, 2])
    with pytest.raises(RuntimeError, match="got 3 and 4 for d_model=4"):
        model(source[..., :3], target)
    with pytest.raises(
        RuntimeError, match="batch number of src and tgt must be equal, got 1 and 2"
    ):
        model(source, pyqref.ones(2, 3, 4))
