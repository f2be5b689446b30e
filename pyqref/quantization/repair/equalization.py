"""Cross-layer equalization: equal ranges in both layers, for each channel between them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from pyqref._typing import Array, Model
from pyqref.numerics.equalization import channel_range, equalizing_factors

from .adjacent import grouped, layer_of, pairs_of, set_bias, set_weight

__all__ = ["cross_layer_equalization", "equalize_pair"]


def cross_layer_equalization(
    model: Model,
    pairs: Sequence[Sequence[Any]] | None = None,
    *,
    threshold: float = 1e-4,
    iterations: int = 100,
    inplace: bool = False,
) -> Model:
    r"""Scale the channels between adjacent layers so that both have equal ranges there.

    A weight that is quantized with one scale for all channels loses those whose range is small
    beside the others'. A layer's output channel may be divided by a positive factor if the next
    layer multiplies its weights by it (``eq-cross-layer-equalization``); the float model computes
    the same, but for the rounding of its numbers.

    Parameters
    ----------
    model
        A float model in evaluation mode, with batch normalizations folded by ``fuse_modules``.
    pairs
        Which layers are adjacent, as paths or as modules; a list of more than two is taken as a
        chain. By default the pairs between which only ReLU, LeakyReLU, PReLU, pooling, dropout,
        flattening and the like stand, which a trace of the model finds.
    threshold
        The pairs are taken in turn until the weights move by less, as a sum of their norms.
    iterations
        How often at most.
    inplace
        Change the model itself.

    Returns
    -------
    Module
        The equalized model.

    Raises
    ------
    ValueError
        No pair was found, or the channels of a pair do not fit.
    TypeError
        A name in ``pairs`` is no layer with a weight.

    Warns
    -----
    NotRepairedWarning
        A ReLU6 or a batch normalization stands between two layers; the message says what to do.

    Notes
    -----
    Source: Nagel et al. 2019, section 4.1. The float32 operations of one pair are those of
    ``torch.ao.quantization._equalize``. With scales for each channel of the weights there is less
    to gain: what stays is that activations of all channels become alike.

    Examples
    --------
    >>> import numpy
    >>> import pyqref
    >>> from pyqref import nn
    >>> model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    >>> model[0].weight.data[1] *= 100
    >>> equal = cross_layer_equalization(model)
    >>> x = pyqref.randn(5, 4)
    >>> pyqref.allclose(equal(x), model(x), atol=1e-4)
    True
    >>> first, second = (equal[i].weight.detach().numpy() for i in (0, 2))
    >>> bool(numpy.allclose(channel_range(first), channel_range(second, 1)))
    True
    """
    if not inplace:
        model = copy.deepcopy(model)
    found = pairs_of(model, pairs, "cross_layer_equalization")
    layers = [tuple(layer_of(model.get_submodule(path)) for path in pair[:2]) for pair in found]
    for pair, (first, second) in zip(found, layers, strict=True):
        _require_fit(pair[:2], first, second)
    for _ in range(iterations):
        before = [each.weight.detach().numpy().copy() for pair in layers for each in pair]
        for first, second in layers:
            equalize_pair(first, second)
        after = [each.weight.detach().numpy() for pair in layers for each in pair]
        moved = sum(float(np.linalg.norm(a - b)) for a, b in zip(after, before, strict=True))
        if moved < threshold:
            break
    return model


def _channels(layer: Any) -> tuple[int, int]:
    """Outputs and inputs of a layer."""
    groups, outputs, inputs, _ = grouped(layer).shape
    return groups * outputs, groups * inputs


def _require_fit(paths: Sequence[str], first: Any, second: Any) -> None:
    outputs, inputs = _channels(first)[0], _channels(second)[1]
    if inputs % outputs:
        raise ValueError(
            f"{paths[0]!r} has {outputs} output channels, {paths[1]!r} takes {inputs}: one is no "
            "multiple of the other, so they are not adjacent"
        )


def output_ranges(layer: Any) -> Array:
    """The range of the weights of each output channel."""
    parts = grouped(layer)
    return channel_range(parts.reshape(parts.shape[0] * parts.shape[1], -1))


def input_ranges(layer: Any, count: int) -> Array:
    """The range of the weights of each of ``count`` input channels."""
    parts = grouped(layer).transpose(0, 2, 1, 3)
    return channel_range(parts.reshape(count, -1))


def equalize_pair(first: Any, second: Any) -> Array:
    """Equalize two layers in place; return the factors, ``(C,)``."""
    parts, others = grouped(first), grouped(second)
    count = parts.shape[0] * parts.shape[1]
    factors = equalizing_factors(output_ranges(first), input_ranges(second, count))
    inverse = np.float32(1) / factors
    set_weight(first, parts * inverse.reshape(parts.shape[0], parts.shape[1], 1, 1))
    if first.bias is not None:
        set_bias(first, first.bias.detach().numpy() * inverse)
    groups, _, inputs, _ = others.shape
    repeated = np.repeat(factors, groups * inputs // count)
    set_weight(second, others * repeated.reshape(groups, 1, inputs, 1))
    return factors
