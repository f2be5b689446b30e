"""Finding an arithmetic by its name, and computing with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyqref.backends import quantized as settings

from .base import Arithmetic
from .fbgemm import FBGEMM
from .fixed_point import CMSISNN, TFLite, TFLiteRuy, TFLiteSingle
from .float64 import Float64
from .kept import Kept
from .onednn import OneDNN
from .onnx import ONNX, ONNXQDQ, TFLiteXNNPACK
from .qnnpack import QNNPACK
from .saturating import OneDNNSaturating, ONNXSaturating, X86Saturating
from .tensorrt import TensorRT

__all__ = ["get", "names", "use"]

_MODELS: tuple[type[Arithmetic], ...] = (
    FBGEMM,
    QNNPACK,
    OneDNN,
    X86Saturating,
    OneDNNSaturating,
    TFLite,
    TFLiteSingle,
    TFLiteRuy,
    TFLiteXNNPACK,
    CMSISNN,
    ONNX,
    ONNXQDQ,
    ONNXSaturating,
    TensorRT,
    Float64,
)
_ALL: dict[str, Arithmetic] = {each.name: each() for each in _MODELS}


def names() -> list[str]:
    """Names that :func:`get` and :func:`use` take.

    Examples
    --------
    >>> "qnnpack" in names()
    True
    """
    return list(_ALL)


def get(name: str) -> Arithmetic:
    """The arithmetic of that name.

    Raises
    ------
    ValueError
        There is none of that name.

    Examples
    --------
    >>> get("fbgemm").summary
    "torch's fbgemm: float32 multiplier by division, real bias, ties to even"
    """
    found = _ALL.get(name) if isinstance(name, str) else None
    if found is None:
        choices = ", ".join(map(repr, _ALL))
        raise ValueError(f"pyqref.arithmetic.get: name must be one of {choices}, got {name!r}")
    return found


@contextmanager
def use(arithmetic: str | Arithmetic, *, strict: bool = False) -> Iterator[Arithmetic]:
    """Compute the quantized operations of a model in another arithmetic.

    Inside, the same modules with the same packed weights accumulate, add the bias and requantize as
    the other system does; so do sums, products, means, joining, functions, dynamic layers and the
    quantization of inputs, as far as the arithmetic defines them (:doc:`/theory/arithmetics` has a
    table). An operation that it does not define keeps the numbers of the engine, and says so.

    Parameters
    ----------
    arithmetic
        A name of :func:`names`, or an :class:`Arithmetic`.
    strict
        Raise where an operation would keep the numbers of the engine.

    Warns
    -----
    NoEffectWarning
        The arithmetic does not define an operation; once for each layer.

    Raises
    ------
    QuantizationError
        The same, with ``strict``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.quantized.Linear(2, 1)
    >>> x = pyqref.quantize_per_tensor(pyqref.ones(1, 2), 0.5, 0, pyqref.quint8)
    >>> with pyqref.arithmetic.use("qnnpack") as model:
    ...     y = layer(x)
    >>> model.name
    'qnnpack'
    """
    chosen = arithmetic if isinstance(arithmetic, Arithmetic) else get(arithmetic)
    before = settings.arithmetic, settings.engine, settings.kept
    settings.arithmetic, settings.kept = chosen, Kept(chosen, strict)
    try:
        if chosen.engine is not None:
            settings.engine = chosen.engine
        yield chosen
    finally:
        settings.arithmetic, settings.engine, settings.kept = before
