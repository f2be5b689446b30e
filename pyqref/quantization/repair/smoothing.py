"""SmoothQuant: outliers of activations move into the weights of linear layers."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from pyqref import fx, nn
from pyqref._typing import Array, Model, Module
from pyqref.numerics.equalization import smoothing_factors
from pyqref.quantization.diagnostics import NotRepairedWarning, warn
from pyqref.tensor import from_numpy, permute, transpose

from .adjacent import grouped, layer_of, set_weight
from .running import batches, called, listening

__all__ = ["smooth_quant"]

_MOVES = (permute, transpose)


def smooth_quant(
    model: Model,
    data: Iterable[Any],
    groups: Sequence[tuple[str, Sequence[str]]] | None = None,
    *,
    alpha: float = 0.5,
    inplace: bool = False,
) -> Model:
    r"""Move outliers of a layer norm's output into the weights of the linear layers behind it.

    A few channels of a transformer's activations are far larger than the others, and decide the
    scale of all of them. Their factors :math:`s_j` (``eq-smooth-quant``) leave the weight and bias
    of the layer norm, and enter the columns of every linear layer that reads its output. The float
    model computes the same, but for the rounding of its numbers.

    Parameters
    ----------
    model
        A float model in evaluation mode.
    data
        Batches, from which the largest absolute value of each channel is taken.
    groups
        ``(path of the layer norm, paths of all layers that read it)``; by default what a trace of
        the model finds, where all of these are linear. A convolution, also a grouped or transposed
        one, may be named, if its channels are those of the layer norm, as behind a ``permute``.
    alpha
        In [0, 1]: the share of the difficulty that moves to the weights.
    inplace
        Change the model itself.

    Returns
    -------
    Module
        The model with other weights.

    Raises
    ------
    ValueError
        No group was found, a layer takes other channels than the layer norm gives, ``data`` is
        empty, or ``alpha`` is out of its range.
    TypeError
        A path in ``groups`` is no linear or convolution layer.

    Warns
    -----
    NotRepairedWarning
        A layer norm is also read by something else, so nothing can be moved, is read by a
        convolution, or has no weight.

    Notes
    -----
    Source: Xiao et al. 2023.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> model = nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 2)).eval()
    >>> model[0].weight.data[1] *= 50
    >>> x = pyqref.randn(32, 4)
    >>> smooth = smooth_quant(model, [x])
    >>> pyqref.allclose(smooth(x), model(x), atol=1e-5)
    True
    >>> bool(smooth[0](x).abs().max() < model[0](x).abs().max() / 5)
    True
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"smooth_quant: alpha must be in [0, 1], got {alpha}")
    if not inplace:
        model = copy.deepcopy(model)
    found = (
        _groups(model) if groups is None else [(norm, list(readers)) for norm, readers in groups]
    )
    if not found:
        raise ValueError(
            f"smooth_quant: found no layer norm with linear layers behind it in "
            f"{type(model).__name__}; pass groups=[(path of the layer norm, [paths of the linear "
            "layers]), ...]"
        )
    layers = {norm: [_reader(model, each, norm) for each in readers] for norm, readers in found}
    largest: dict[str, Any] = {norm: 0.0 for norm, _ in found}
    with ExitStack() as stack:
        for norm in largest:

            def hear(_: Any, y: Any, norm: str = norm) -> None:
                rows = np.abs(y.detach().numpy()).reshape(-1, y.shape[-1])
                largest[norm] = np.maximum(largest[norm], rows.max(axis=0))

            stack.enter_context(listening(model.get_submodule(norm), hear))
        for batch in batches(data, "smooth_quant"):
            called(model, batch)
    for norm, _ in found:
        _smooth(model.get_submodule(norm), layers[norm], largest[norm], alpha)
    return model


def _groups(model: Module) -> list[tuple[str, list[str]]]:
    """Each layer norm that only linear layers read, with these."""
    found = []
    for node in fx.Tracer().trace(model).nodes:
        if node.op != "call_module" or not isinstance(_module(model, node), nn.LayerNorm):
            continue
        readers = [_module(model, each) for each in node.users]
        if _warned_of_convolution(model, node):
            continue
        if not all(isinstance(each, nn.Linear) for each in readers) or not readers:
            if any(isinstance(each, nn.Linear) for each in readers):
                names = ", ".join(str(each) for each in node.users)
                warn(
                    f"{node.target}: not all that read it are linear layers ({names}), and its "
                    "factors stay; pass groups= if all of them are",
                    NotRepairedWarning,
                )
            continue
        if _module(model, node).weight is None:
            warn(f"{node.target}: it has no weight that could take up factors", NotRepairedWarning)
            continue
        found.append((str(node.target), [str(each.target) for each in node.users]))
    return found


def _module(model: Module, node: Any) -> Any:
    return model.get_submodule(str(node.target)) if node.op == "call_module" else None


def _warned_of_convolution(model: Module, node: Any) -> bool:
    """Warn if a convolution reads a layer norm, directly or with its axes moved."""
    for user in node.users:
        moved = user.target in (*_MOVES, "permute", "transpose") and user.op != "call_module"
        for each in user.users if moved else (user,):
            layer = _module(model, each)
            if layer is None or layer_of(layer) is None or isinstance(layer, nn.Linear):
                continue
            kind = type(layer).__name__
            if moved:
                said = (
                    f"the {kind} {each.target!r} reads it with its axes moved; pass "
                    f"groups=[({str(node.target)!r}, [{str(each.target)!r}])] if the channels are "
                    "the same and nothing else reads it"
                )
            else:
                said = (
                    f"the {kind} {each.target!r} reads it, whose channels are not along the last "
                    "axis; nothing is to be done"
                )
            warn(f"{node.target}: its factors stay; {said}", NotRepairedWarning)
            return True
    return False


def _reader(model: Module, path: str, norm: str) -> Any:
    """The layer at a path, which has to take the channels that a layer norm gives."""
    weight: Any = getattr(model.get_submodule(norm), "weight", None)
    if weight is None:
        raise ValueError(
            f"smooth_quant: {norm!r} in groups has no weight that could take up factors; make the "
            "layer norm with elementwise_affine=True"
        )
    channels = weight.shape[-1]
    layer = layer_of(model.get_submodule(path))
    if layer is None:
        kind = type(model.get_submodule(path)).__name__
        raise TypeError(
            f"smooth_quant: {path!r} in groups must be a linear or convolution layer, got {kind}"
        )
    groups, _, inputs, _ = grouped(layer).shape
    if groups * inputs != channels:
        raise ValueError(
            f"smooth_quant: {path!r} takes {groups * inputs} channels, and {norm!r} gives "
            f"{channels}; name only layers that read it in groups"
        )
    return layer


def _by_input(layer: Any) -> Array:
    """The weights as ``(inputs, ...)``, those of all groups one behind the other."""
    parts = grouped(layer).transpose(0, 2, 1, 3)
    return parts.reshape(parts.shape[0] * parts.shape[1], -1)


def _smooth(norm: Any, layers: list[Any], largest: Array, alpha: float) -> None:
    columns = np.max([np.abs(_by_input(each)).max(axis=1) for each in layers], axis=0)
    factors = smoothing_factors(largest, columns, alpha)
    for parameter in (norm.weight, norm.bias):
        if parameter is not None:
            parameter.data = from_numpy(parameter.detach().numpy() / factors)
    for each in layers:
        parts = grouped(each)
        set_weight(each, parts * factors.reshape(parts.shape[0], 1, parts.shape[2], 1))
