"""High-bias absorption: a large bias moves behind the ReLU that never cuts it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from pyqref import nn
from pyqref._typing import Array, Model, Module
from pyqref.nn import functional as F
from pyqref.nn import intrinsic as nni
from pyqref.numerics.bias_repair import absorbed_bias
from pyqref.quantization.diagnostics import NotRepairedWarning, warn
from pyqref.tensor import relu

from .adjacent import TRANSPOSED, Pair, grouped, layer_of, pairs_of, set_bias
from .running import Moments, batches, called, listening

__all__ = ["absorb_high_bias"]


def absorb_high_bias(
    model: Model,
    data: Iterable[Any],
    pairs: Sequence[Sequence[Any]] | None = None,
    *,
    width: float = 3.0,
    inplace: bool = False,
) -> Model:
    r"""Move the part of a bias that a ReLU hardly ever cuts into the next layer.

    For a channel whose outputs lie around :math:`\mu_i` with deviation :math:`\sigma_i`, the part
    :math:`c_i` of ``eq-high-bias-absorption`` leaves the first bias, and the second takes it up:
    :math:`b^{(1)} - c` and :math:`b^{(2)} + W^{(2)} c`. The range of the activations between the
    layers becomes narrower, most of all after :func:`cross_layer_equalization`, which enlarges
    biases.

    Parameters
    ----------
    model
        A float model in evaluation mode, with batch normalizations folded.
    data
        Batches, from which the moments of each first layer's outputs are measured.
    pairs
        As in :func:`cross_layer_equalization`.
    width
        The number n of deviations, not negative.
    inplace
        Change the model itself.

    Returns
    -------
    Module
        The changed model. Outputs differ only where a number before a ReLU lies below :math:`c_i`.

    Raises
    ------
    ValueError
        No pair was found, ``data`` is empty, or ``width`` is negative.

    Warns
    -----
    NotRepairedWarning
        The second layer pads with zeros, which would no longer stand for zero, or is a transposed
        convolution, whose taps do not all reach each output.

    Notes
    -----
    Source: Nagel et al. 2019, section 4.1.3, where the moments are those of the batch
    normalization.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    >>> model[0].bias.data = pyqref.tensor([50.0, 0.0])
    >>> x = pyqref.randn(100, 2)
    >>> better = absorb_high_bias(model, [x])
    >>> bool(better[0].bias[0] < 10), pyqref.allclose(better(x), model(x), atol=1e-4)
    (True, True)
    """
    if not width >= 0:
        raise ValueError(f"absorb_high_bias: width must be 0 or more, got {width}")
    if not inplace:
        model = copy.deepcopy(model)
    chosen = []
    for pair in pairs_of(model, pairs, "absorb_high_bias"):
        first, second = (layer_of(model.get_submodule(path)) for path in pair[:2])
        if not _is_one_relu(model, pair) or first.bias is None:
            continue
        if any(np.ravel(getattr(second, "padding", 0)) != 0):
            warn(
                f"{pair.second}: it pads with zeros, so no bias of {pair.first} is moved into it; "
                "nothing is to be done",
                NotRepairedWarning,
            )
            continue
        if isinstance(second, TRANSPOSED):
            warn(
                f"{pair.second}: a transposed convolution spreads a constant unevenly, so no bias "
                f"of {pair.first} is moved into it; nothing is to be done",
                NotRepairedWarning,
            )
            continue
        chosen.append((pair, first, second, Moments(_channel_axis(first))))
    with ExitStack() as stack:
        for _, first, _, moments in chosen:
            stack.enter_context(listening(first, lambda _, y, add=moments.add: add(y)))
        for batch in batches(data, "absorb_high_bias"):
            called(model, batch)
    for _, first, second, moments in chosen:
        _absorb(first, second, absorbed_bias(moments.mean, moments.deviation, width))
    return model


def _channel_axis(layer: Any) -> int:
    return -1 if isinstance(layer, nn.Linear) else 1


def _is_one_relu(model: Module, pair: Pair) -> bool:
    """Return True if only a ReLU stands between, which is exact above c."""
    between = list(pair.between)
    fused = model.get_submodule(pair.first)
    if not between and isinstance(fused, nni._FusedModule):
        between = list(fused.children())[1:]
    if not between:
        return True  # the caller's own pair
    return len(between) == 1 and (isinstance(between[0], nn.ReLU) or between[0] in _RELU)


_RELU = (relu, F.relu, "relu", "relu_")


def _absorb(first: Any, second: Any, amount: Array) -> None:
    set_bias(first, first.bias.detach().numpy() - amount)
    parts = grouped(second).astype(np.float64)
    groups, outputs, inputs, _ = parts.shape
    each = np.repeat(amount.astype(np.float64), groups * inputs // len(amount))
    shift = np.einsum("goik,gi->go", parts, each.reshape(groups, inputs))
    bias = np.zeros(groups * outputs) if second.bias is None else second.bias.detach().numpy()
    set_bias(second, bias + shift.reshape(groups * outputs))
