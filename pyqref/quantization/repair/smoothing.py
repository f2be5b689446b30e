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
from pyqref.tensor import from_numpy

from .running import batches, called, listening

__all__ = ["smooth_quant"]


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
        ``(path of the layer norm, paths of all linear layers that read it)``; by default what a
        trace of the model finds.
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
        No group was found, ``data`` is empty, or ``alpha`` is out of its range.

    Warns
    -----
    NotRepairedWarning
        A layer norm is also read by something else, so nothing can be moved, or has no weight.

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
    largest: dict[str, Any] = {norm: 0.0 for norm, _ in found}
    with ExitStack() as stack:
        for norm in largest:

            def hear(_: Any, y: Any, norm: str = norm) -> None:
                rows = np.abs(y.detach().numpy()).reshape(-1, y.shape[-1])
                largest[norm] = np.maximum(largest[norm], rows.max(axis=0))

            stack.enter_context(listening(model.get_submodule(norm), hear))
        for batch in batches(data, "smooth_quant"):
            called(model, batch)
    for norm, readers in found:
        layers = [model.get_submodule(path) for path in readers]
        _smooth(model.get_submodule(norm), layers, largest[norm], alpha)
    return model


def _groups(model: Module) -> list[tuple[str, list[str]]]:
    """Each layer norm that only linear layers read, with these."""
    found = []
    for node in fx.Tracer().trace(model).nodes:
        if node.op != "call_module" or not isinstance(_module(model, node), nn.LayerNorm):
            continue
        readers = [_module(model, each) for each in node.users]
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


def _smooth(norm: Any, layers: list[Any], largest: Array, alpha: float) -> None:
    columns = np.max([np.abs(each.weight.detach().numpy()).max(axis=0) for each in layers], axis=0)
    factors = smoothing_factors(largest, columns, alpha)
    for parameter in (norm.weight, norm.bias):
        if parameter is not None:
            parameter.data = from_numpy(parameter.detach().numpy() / factors)
    for each in layers:
        each.weight.data = from_numpy(each.weight.detach().numpy() * factors)
