"""Strategies for ``hypothesis``: quantized tensors, quantization parameters, observers.

They need the package ``hypothesis``: ``pip install 'pyqref[testing]'``. Integers at the ends of
the range, zero points at the ends and scales that are powers of two come more often than by
chance, because mistakes are found there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import dtypes
from ..dtypes import dtype as dtype_

if TYPE_CHECKING:
    from .._typing import Tensor
    from ..quantization import ObserverBase

__all__ = ["QParams", "observers", "qparams", "quantized_tensors"]

#: Types of 8 bits, between which a strategy chooses.
_DTYPES = (dtypes.quint8, dtypes.qint8)
#: Exponents of the scales.
_EXPONENTS = -16, 4


class QParams(NamedTuple):
    """Parameters of an affine quantization.

    Attributes
    ----------
    scale
        A positive number of float32.
    zero_point
        In [quant_min, quant_max].
    dtype
        A quantized dtype, whose range these are.
    quant_min, quant_max
        The range.

    Examples
    --------
    >>> import pyqref
    >>> QParams(0.5, 3, pyqref.quint8, 0, 255).zero_point
    3
    """

    scale: float
    zero_point: int
    dtype: dtype_
    quant_min: int
    quant_max: int


def _hypothesis(name: str) -> Any:
    """The strategies of ``hypothesis``.

    Raises
    ------
    ImportError
        It is not installed.
    """
    try:
        from hypothesis import strategies
    except ImportError as error:
        raise ImportError(
            f"{name} needs the package hypothesis, which is not installed; "
            "run: pip install 'pyqref[testing]'"
        ) from error
    return strategies


def _chosen(dtype: Any) -> tuple[dtype_, ...]:
    if dtype is None:
        return _DTYPES
    if not isinstance(dtype, dtype_) or not dtype.is_quantized or dtype.quant_min is None:
        raise TypeError(f"dtype must be a quantized dtype such as pyqref.quint8, got {dtype!r}")
    return (dtype,)


def qparams(dtype: Any = None, *, symmetric: bool = False) -> Any:
    """Strategy for parameters of one tensor.

    Parameters
    ----------
    dtype
        Such as ``pyqref.quint8``; None draws ``quint8`` or ``qint8``.
    symmetric
        Draw only the zero point that stands in the middle: 0, or 128 of ``quint8``.

    Returns
    -------
    strategy of QParams

    Raises
    ------
    ImportError
        ``hypothesis`` is not installed.
    TypeError
        ``dtype`` is no quantized dtype.

    Examples
    --------
    >>> import pyqref
    >>> from hypothesis import HealthCheck, given, settings
    >>> from pyqref.testing.strategies import qparams
    >>> @settings(max_examples=20, database=None, suppress_health_check=list(HealthCheck))
    ... @given(qparams())
    ... def zero_is_an_integer(q):
    ...     zero = pyqref.quantize_per_tensor(pyqref.zeros(1), q.scale, q.zero_point, q.dtype)
    ...     assert zero.dequantize().item() == 0.0
    >>> zero_is_an_integer()
    """
    strategies = _hypothesis("qparams")
    dtypes_ = strategies.sampled_from(_chosen(dtype))
    return dtypes_.flatmap(lambda each: _of(strategies, each, symmetric))


def _of(strategies: Any, dtype: Any, symmetric: bool) -> Any:
    low, high = dtype.quant_min, dtype.quant_max
    middle = (low + high + 1) // 2
    points = strategies.just(middle)
    if not symmetric:
        near = max(low, min(0, high))
        points = strategies.sampled_from([near, low, high, middle]) | strategies.integers(low, high)
    return strategies.builds(
        QParams,
        _scales(strategies),
        points,
        strategies.just(dtype),
        strategies.just(low),
        strategies.just(high),
    )


def _scales(strategies: Any) -> Any:
    powers = strategies.integers(*_EXPONENTS).map(lambda each: 2.0**each)
    low, high = (2.0**each for each in _EXPONENTS)
    return strategies.just(1.0) | powers | strategies.floats(low, high, width=32)


def quantized_tensors(
    dtype: Any = None, *, shape: Any = None, axis: int | None = None, symmetric: bool = False
) -> Any:
    """Strategy for quantized tensors.

    Parameters
    ----------
    dtype
        Such as ``pyqref.quint8``; None draws ``quint8`` or ``qint8``.
    shape
        A shape, or a strategy of shapes; None draws up to three axes of up to seven elements.
    axis
        Draw a scale and a zero point for each index of this axis; None draws one of each.
    symmetric
        As :func:`qparams` takes it.

    Returns
    -------
    strategy of Tensor

    Raises
    ------
    ImportError
        ``hypothesis`` is not installed.
    TypeError
        ``dtype`` is no quantized dtype.

    Examples
    --------
    >>> import pyqref
    >>> from hypothesis import HealthCheck, given, settings
    >>> from pyqref.testing import assert_bit_equal
    >>> from pyqref.testing.strategies import quantized_tensors
    >>> @settings(max_examples=20, database=None, suppress_health_check=list(HealthCheck))
    ... @given(quantized_tensors(pyqref.quint8))
    ... def relu_keeps_the_grid(x):
    ...     y = pyqref.nn.functional.relu(x)
    ...     assert (y.q_scale(), y.q_zero_point()) == (x.q_scale(), x.q_zero_point())
    >>> relu_keeps_the_grid()
    """
    strategies = _hypothesis("quantized_tensors")
    shapes = shape
    if shape is None:
        shapes = strategies.lists(strategies.integers(1, 7), min_size=1, max_size=3).map(tuple)
    elif not hasattr(shape, "map"):
        shapes = strategies.just(tuple(shape))
    chosen = strategies.sampled_from(_chosen(dtype))
    return strategies.tuples(shapes, chosen).flatmap(
        lambda drawn: _tensors(strategies, drawn[0], drawn[1], axis, symmetric)
    )


def _tensors(
    strategies: Any, shape: tuple[int, ...], dtype: Any, axis: int | None, symmetric: bool
) -> Any:
    count = int(np.prod(shape))
    width = np.dtype(dtype.numpy_dtype).itemsize
    content = strategies.binary(min_size=count * width, max_size=count * width)
    places = strategies.tuples(strategies.integers(0, count - 1), strategies.booleans())
    number = 1 if axis is None else shape[axis]
    parameters = strategies.lists(
        _of(strategies, dtype, symmetric), min_size=number, max_size=number
    )
    return strategies.builds(
        lambda content, ends, params: _made(content, ends, params, shape, dtype, axis),
        content,
        strategies.lists(places, max_size=3) if count else strategies.just([]),
        parameters,
    )


def _made(
    content: bytes,
    ends: list[tuple[int, bool]],
    parameters: list[QParams],
    shape: tuple[int, ...],
    dtype: Any,
    axis: int | None,
) -> Tensor:
    """A tensor of the integers that some bytes are, some of them replaced by ends of the range."""
    from ..tensor.quantized import make_per_channel, make_per_tensor

    low, high = dtype.quant_min, dtype.quant_max
    storage = np.dtype(dtype.numpy_dtype)
    drawn = np.frombuffer(content, f"u{storage.itemsize}").astype(np.int64)
    integers = low + drawn % (high - low + 1)
    for place, is_high in ends:
        integers[place] = high if is_high else low
    array = integers.astype(storage).reshape(shape)
    if axis is None:
        return make_per_tensor(array, parameters[0].scale, parameters[0].zero_point, dtype)
    scales = np.array([each.scale for each in parameters])
    points = np.array([each.zero_point for each in parameters])
    place = axis % len(shape)
    return make_per_channel(array, scales, points, place, dtype, dtypes.per_channel_affine)


def observers(dtype: Any = None) -> Any:
    """Strategy for observers that have not seen data.

    Parameters
    ----------
    dtype
        Such as ``pyqref.quint8``; None draws ``quint8`` or ``qint8``.

    Returns
    -------
    strategy of ObserverBase
        Of minimum and maximum, of moving averages, of histograms, affine and symmetric, over 8
        bits and 7.

    Raises
    ------
    ImportError
        ``hypothesis`` is not installed.
    TypeError
        ``dtype`` is no quantized dtype.

    Examples
    --------
    >>> import pyqref
    >>> from hypothesis import HealthCheck, given, settings
    >>> from pyqref.testing.strategies import observers
    >>> @settings(max_examples=20, database=None, suppress_health_check=list(HealthCheck))
    ... @given(observers())
    ... def range_holds_zero(observer):
    ...     observer(pyqref.tensor([1.0, 2.0]))
    ...     scale, zero_point = observer.calculate_qparams()
    ...     assert observer.quant_min <= int(zero_point) <= observer.quant_max
    >>> range_holds_zero()
    """
    strategies = _hypothesis("observers")
    from .. import quantization as q

    classes = strategies.sampled_from(
        [q.MinMaxObserver, q.MovingAverageMinMaxObserver, q.HistogramObserver]
    )
    return strategies.builds(
        _observer,
        classes,
        strategies.sampled_from(_chosen(dtype)),
        strategies.sampled_from([dtypes.per_tensor_affine, dtypes.per_tensor_symmetric]),
        strategies.booleans(),
    )


def _observer(kind: Any, dtype: Any, qscheme: Any, reduce_range: bool) -> ObserverBase:
    # A symmetric grid of quint8 has 128 in its middle, and does not have 7 bits.
    reduced = reduce_range and (qscheme, dtype) != (dtypes.per_tensor_symmetric, dtypes.quint8)
    observer: ObserverBase = kind(dtype=dtype, qscheme=qscheme, reduce_range=reduced)
    return observer
