"""The quick way reads what the full way reads, and no result depends on recording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.nn import functional as F
from pyqref.tape.unary import Exp
from pyqref.tensor import usual
from pyqref.tensor.axes import axes_of, shape_argument
from pyqref.tensor.dispatch import apply
from pyqref.tensor.shape import _resolved

X = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)


@pytest.mark.parametrize(
    "shape", [(24,), (4, -1), ((2, 12),), ([-1],), (0,), (5, -1), (-1, -1), (24, 1.0), (-2, 12)]
)
def test_shapes(shape: tuple[Any, ...]) -> None:
    """The quick way reads what the full way reads, and leaves to it all that is refused."""
    found = usual.usual_shape(shape, 24)
    if found is not None:
        assert _resolved(shape_argument(shape), 24) == found
    else:
        with pytest.raises((RuntimeError, TypeError)):
            _resolved(shape_argument(shape), 24)


@pytest.mark.parametrize("dims", [(2, 0, 1), ((-1, 0, 1),), (0, 1), (0, 0, 1), (0, 3, 1), (0.0,)])
def test_axes(dims: tuple[Any, ...]) -> None:
    """Axes, too."""
    found = usual.usual_axes(dims, 3)
    if found is not None:
        assert axes_of(shape_argument(dims), 3) == found
    else:
        with pytest.raises((IndexError, RuntimeError, TypeError)):
            axes_of(shape_argument(dims), 3)


@pytest.mark.parametrize(
    "key",
    [0, -1, slice(1, 3), (slice(None), 1), (0, 1, 2), (None, 1), (1, None, slice(-2, None), None)],
)
def test_keys(key: Any) -> None:
    """A key that is read quickly chooses what NumPy chooses."""
    assert usual.usual_key(X.shape, key) is not None
    assert np.array_equal(X[key], pyqref.from_numpy(X)[key].numpy())


@pytest.mark.parametrize("key", [2, -3, ..., (0, 0, 0, 0), slice(None, None, 2), True, [0], 1.0])
def test_other_keys(key: Any) -> None:
    """All other keys are left to the full way."""
    assert usual.usual_key(X.shape, key) is None


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "add": lambda x: x + x,
    "sub": lambda x: x - 2.0,
    "mul": lambda x: x * 3,
    "div": lambda x: x / x,
    "maximum": lambda x: pyqref.maximum(x, -x),
    "clamp": lambda x: x.clamp(-0.5, 1),
    "where": lambda x: pyqref.where(x > 0, x, -x),
    "masked_fill": lambda x: x.masked_fill(x > 0, 2.0),
    "exp": lambda x: x.exp(),
    "relu": lambda x: x.relu(),
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "layer_norm": lambda x: F.layer_norm(x, (3, 4)),
    "rms_norm": lambda x: F.rms_norm(x, (4,)),
    "linear": lambda x: F.linear(x, x[0, :, :], x[0, :, 0]),
    "matmul": lambda x: x @ x[0].T,
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean((0, 2), keepdim=True),
    "max": lambda x: x.max(),
    "max along an axis": lambda x: x.max(1, keepdim=True).indices,
    "min along an axis": lambda x: x.min(-1).values,
    "var": lambda x: x.var((0, 1)),
    "std": lambda x: x.std(),
    "pow": lambda x: x**3,
    "round": lambda x: x.round(),
    "amin": lambda x: x.amin(1),
    "cat": lambda x: pyqref.cat([x, x[:, 1:]], 1),
    "stack": lambda x: pyqref.stack([x, x], -1),
    "view": lambda x: x.view(6, -1),
    "expand": lambda x: x[:, :1].expand(-1, 5, 4),
    "squeeze": lambda x: x[:1].squeeze(),
    "unbind": lambda x: x.unbind(1)[2],
    "permute": lambda x: x.permute(2, 0, 1).clone(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [pyqref.float32, pyqref.float64])
def test_recording_changes_no_bit(name: str, dtype: Any) -> None:
    """A result is the same, and lies the same way, with a node and without."""
    x = pyqref.from_numpy(X).to(dtype)
    plain, recorded = FUNCTIONS[name](x), FUNCTIONS[name](x.clone().requires_grad_())
    assert recorded.requires_grad or plain.dtype is pyqref.int64
    assert not plain.requires_grad
    assert (plain.dtype, plain.stride()) == (recorded.dtype, recorded.stride())
    assert np.array_equal(plain.numpy(), recorded.detach().numpy())


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_numpy_is_silent(name: str, dtype: Any) -> None:
    """What runs quietly has nothing to warn of, or silences it: no nan, infinity or overflow."""
    largest = float(np.finfo(dtype).max)
    numbers = [np.nan, np.inf, -np.inf, largest, -largest, 0.0]
    x = pyqref.from_numpy(np.resize(np.array(numbers, dtype), X.shape))
    with np.errstate(all="raise"):
        FUNCTIONS[name](x)
        FUNCTIONS[name](x.requires_grad_())


def test_clamp_keeps_the_sign_of_a_zero() -> None:
    """A number that equals a bound is not moved to it."""
    x = pyqref.tensor([-0.0, 0.0])
    for low, high in ((0.0, 1.0), (-0.0, None), (-1.0, 0.0), (None, -0.0)):
        assert [True, False] == np.signbit(x.clamp(low, high).numpy()).tolist()


def test_a_forward_of_its_own_is_called() -> None:
    """A subclass that defines ``forward`` anew is not passed over where nothing is recorded."""

    class Doubled(Exp):
        def forward(self, x: Any) -> Any:
            return 2 * super().forward(x)

    assert [2.0] == apply(Doubled, pyqref.zeros(1)).tolist()
