"""One layer at a time: what quantizing it alone costs the output of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Any

from .. import nn
from .._typing import Tensor
from ..fx.errors import TraceError
from ..quantization import QConfig, QConfigMapping
from ..quantization.diagnostics import NotQuantizedWarning, warn
from ..quantization.mixed_precision.measuring import Measurer
from ..quantization.mixed_precision.widths import Width
from .untraced import as_number, layers_alone

__all__ = ["sensitivity"]

_ASKS = "sensitivity"


def sensitivity(
    model: nn.Module,
    qconfig: QConfig | QConfigMapping,
    inputs: Tensor | Iterable[Any],
    *,
    calibration: Tensor | Iterable[Any] | None = None,
    layers: Sequence[str] | None = None,
    metric: str | Callable[[Any, Any], Any] = "sqnr",
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | Callable[[int], object] = True,
) -> dict[str, float]:
    """Quantize each part of a model alone and measure the model's output.

    For each part a copy of the model is made in which only that part runs on integers: its input
    is quantized, its output quantized and dequantized. All else stays float, so the noise of one
    part is seen after it went through the layers behind. A part is a layer, alone or fused with
    what follows it, or a function or method in ``forward``.

    Parameters
    ----------
    model
        A float model in evaluation mode, fused or not. It is not changed.
    qconfig
        Observers of the part's activations and of its weight. Parts that cannot take it have the
        usual one of their kind: recurrent layers are dynamic, embeddings have quantized weights
        only, a sigmoid has a fixed grid.
    inputs
        What the metric is measured on: a tensor; a tuple for several arguments; or batches, each a
        tensor or a pair ``(inputs, targets)``.
    calibration
        What the observers see; ``inputs`` if None.
    layers
        Names of parts; all if None. That of a layer is its path, that of a function or a method
        the name of its node in the graph.
    metric
        ``"sqnr"``, in dB; ``"accuracy"``, ``"loss"``, or a function of output and target that
        gives one number for a batch, as for :func:`pyqref.ledger`.
    checkpoint
        Path of a file that keeps every measurement; called again, it goes on from there.
    progress
        True shows the number of measurements on a terminal; a function is called with it.

    Returns
    -------
    dict
        For each name the metric of the model with this part quantized, in the order in which the
        parts run.

    Raises
    ------
    TypeError
        An argument is of a wrong type.
    ValueError
        The model has no part that can be quantized, or none of a name in ``layers``.

    Warns
    -----
    NotQuantizedWarning
        Something is left out, because its QConfig is None or because the model cannot be traced.

    Notes
    -----
    An operation without a quantized form, such as GELU, computes on float numbers between a
    quantized input and a quantized output, with weights rounded to their grid. Methods of one name,
    and calls of one layer, are one part. ``Identity``, which fusing leaves behind, is none. In a
    model that no graph can record, the layers with one input are measured, and the warning names
    the others.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> _ = pyqref.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)).eval()
    >>> qconfig = pyqref.quantization.get_default_qconfig("fbgemm")
    >>> found = sensitivity(model, qconfig, pyqref.rand(64, 8))
    >>> list(found), all(30 < ratio < 60 for ratio in found.values())
    (['0', '2'], True)
    """
    data = [(inputs, None)] if isinstance(inputs, tuple) else inputs
    seen = [(calibration, None)] if isinstance(calibration, tuple) else calibration
    try:
        measurer = Measurer(_ASKS, model, data, seen, metric, qconfig, checkpoint, progress)
    except TraceError as error:
        return layers_alone(model, qconfig, data, seen, layers, metric, error)
    try:
        return _of_parts(measurer, layers, metric)
    finally:
        measurer.report.end()


def _of_parts(measurer: Measurer, layers: Sequence[str] | None, metric: object) -> dict[str, float]:
    units = measurer.everything
    for name in measurer.left:
        if layers is None and name not in units:
            warn(f"{_ASKS}: {name!r} is left out: {measurer.left[name]}", NotQuantizedWarning)
    if not units:
        raise ValueError(f"{_ASKS}: model must have an operation that can be quantized, got none")
    idle = [name for name, each in units.items() if each.target is nn.Identity]
    names = [each for each in units if each not in idle] if layers is None else list(layers)
    if unknown := sorted(set(names) - set(units)):
        raise ValueError(
            f"{_ASKS}: layers must be names of parts of the model, got {unknown}; it has "
            f"{list(units)}"
        )
    found = {}
    for name in names:
        measured = measurer.single(units[name], Width(8, 8))
        found[name] = as_number(measured, metric)
    return found
