"""``conformance``: the cases of an operation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import arithmetic
from .._typing import Dtype
from .case import Case
from .conditions import CONDITIONS
from .dequantizing import Dequantize
from .dynamic import LinearDynamic
from .elementwise import Add, Multiply
from .operation import Operation
from .pooling import AveragePool
from .quantizing import Quantize, QuantizePerChannel
from .requantizing import Requantize
from .weighted import Weighted
from .weighted_cases import GEOMETRIES, weighted_recipes
from .weighted_mistakes import mistakes_of

__all__ = ["conformance", "engine_of", "operation_of", "operations"]

_ENGINES = ("fbgemm", "x86", "onednn", "qnnpack")
_OPERATIONS: dict[str, Operation] = {
    each.name: each
    for each in (
        *(Weighted(name, weighted_recipes, mistakes_of) for name in GEOMETRIES),
        LinearDynamic(),
        Add(),
        Multiply(),
        *(AveragePool(spatial) for spatial in (1, 2, 3)),
        Quantize(),
        QuantizePerChannel(),
        Dequantize(),
        Requantize(),
    )
}


def operations() -> tuple[str, ...]:
    """Names of the operations that have cases.

    Examples
    --------
    >>> operations()[:4]
    ('linear', 'conv1d', 'conv2d', 'conv3d')
    """
    return tuple(_OPERATIONS)


def operation_of(name: object) -> Operation:
    """The operation of that name.

    Raises
    ------
    ValueError
        There is none.
    """
    if not isinstance(name, str) or name not in _OPERATIONS:
        possible = ", ".join(map(repr, _OPERATIONS))
        raise ValueError(f"operation must be one of {possible}, got {name!r}")
    return _OPERATIONS[name]


def engine_of(engine: object, operation: Operation) -> str:
    """The engine, if an operation is defined for it.

    Raises
    ------
    ValueError
        It is not.
    """
    possible = list(_ENGINES)
    if operation.any_arithmetic:
        possible = list(dict.fromkeys(["fbgemm", "x86", "qnnpack", *arithmetic.names()]))
    if engine not in possible:
        some = ", ".join(map(repr, possible))
        raise ValueError(f"engine must be one of {some} for {operation.name}, got {engine!r}")
    return str(engine)


def conformance(
    operation: str,
    engine: str = "fbgemm",
    *,
    dtype: Dtype | str = "uint8",
    without: Iterable[str] = (),
) -> list[Case]:
    """Cases that hit what implementations of an operation get wrong.

    Among them are ties to both sides of zero, under odd and even zero points; both ends of the
    clamp; zero points at the ends of the range; a bias between two units of the accumulator; sums
    beyond 16 and 24 bits; odd shapes. They are the same each time.

    Parameters
    ----------
    operation
        One of :func:`operations`.
    engine
        Whose integers are expected: ``"fbgemm"``, ``"x86"``, ``"qnnpack"`` or ``"onednn"``. For
        linear layers and convolutions, any name of :func:`pyqref.arithmetic.names`, such as
        ``"tflite"`` or ``"onnx"``.
    dtype
        Of the activations: ``"uint8"``, or ``"int8"`` for the same real numbers in [-128, 127].
    without
        Conditions, keys of ``CONDITIONS``, whose cases are left out: what the implementation
        does not support, such as ``"weight zero point"`` or ``"per channel"``.

    Returns
    -------
    list of Case

    Raises
    ------
    ValueError
        There is no such operation, engine, dtype or condition.

    Examples
    --------
    >>> cases = conformance("add", engine="qnnpack")
    >>> [case.name for case in cases][:3]
    ['every pair of bytes', 'ties', 'ties, even zero point']
    >>> case = cases[1]
    >>> case.arguments["a_scale"], case.arguments["output_scale"], case.counts()["negative tie"]
    (0.5, 1.0, 39)
    """
    found = operation_of(operation)
    engine = engine_of(engine, found)
    is_signed = _is_signed(dtype)
    left_out = {without} if isinstance(without, str) else set(without)
    unknown = sorted(map(repr, left_out - set(CONDITIONS)))
    if unknown:
        possible = ", ".join(map(repr, CONDITIONS))
        raise ValueError(f"without must hold names among {possible}, got {', '.join(unknown)}")
    cases = []
    for recipe in found.recipes(engine, is_signed):
        if left_out & set(recipe.hits):
            continue
        with np.errstate(all="ignore"):
            expected = found.expected(recipe.arguments, engine)
        named = found.name, recipe.name, engine, recipe.arguments, expected, recipe.hits
        case = Case(*named, found.arithmetic, found)
        if not left_out & set(case.counts() if left_out else ()):
            cases.append(case)
    return cases


def _is_signed(dtype: Any) -> bool:
    storage = getattr(dtype, "numpy_dtype", dtype)
    try:
        kind = np.dtype(storage)
    except TypeError:
        kind = None
    if kind not in (np.dtype(np.uint8), np.dtype(np.int8)):
        raise ValueError(f"dtype must be 'uint8' or 'int8', got {dtype!r}")
    return kind == np.int8
