"""Bias correction without data: the mean input follows from a batch normalization."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pyqref import fx, nn
from pyqref._typing import Array, Model, Module
from pyqref.fx import Node
from pyqref.nn import functional as F
from pyqref.nn.modules.batchnorm import BatchNormBase
from pyqref.nn.utils import fuse_conv_bn_eval, fuse_linear_bn_eval
from pyqref.numerics.bias_repair import (
    corrected_bias,
    expected_shift,
    mean_of_clipped_normal,
    mean_of_rectified_normal,
)
from pyqref.quantization.diagnostics import NotRepairedWarning, warn
from pyqref.tensor import flatten, from_numpy, relu

from .adjacent import TRANSPOSED, grouped
from .quantized_layers import can_be_repaired, remedy_of

__all__ = ["analytic_bias_correction"]

_RELU = (relu, F.relu, "relu", "relu_")
#: They change no mean of a channel.
_KEEP_MEANS = (nn.Identity, nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.Flatten)
_POOLS = (nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d)
_LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, *TRANSPOSED)


class _Source(NamedTuple):
    """Knowledge of a layer's input: its normalization, and the function behind that."""

    norm: Any
    function: str


def analytic_bias_correction(
    float_model: Module,
    quantized_model: Model,
    *,
    layers: Sequence[str] | None = None,
    inplace: bool = False,
) -> Model:
    r"""Correct the biases of a converted model without data.

    The rounding of a weight shifts the mean output by ``eq-expected-shift``, and the mean input of
    a layer behind a batch normalization is known: that normalization makes it normal with mean
    :math:`\beta` and deviation :math:`|\gamma|`, and a ReLU (``eq-rectified-normal``) or a ReLU6
    (``eq-clipped-normal``) may follow. The bias takes the shift back (``eq-bias-correction``).

    Parameters
    ----------
    float_model
        The model **before** its batch normalizations were folded, in evaluation mode.
    quantized_model
        What ``convert`` or ``convert_fx`` made of it.
    layers
        Paths of layers to correct; by default all linear and convolution layers whose mean input
        is known. Between the batch normalization and the layer only ReLU, ReLU6, average pooling
        to one place, flattening and dropout may stand.
    inplace
        Change the quantized model itself.

    Returns
    -------
    Module
        The quantized model with corrected biases. Layers whose mean input is unknown stay.

    Raises
    ------
    ValueError
        No layer is behind a batch normalization, or the models have other layers.

    Warns
    -----
    NotRepairedWarning
        The mean input of a layer in ``layers`` is unknown, or a layer whose mean input is known is
        of a kind that is not corrected.

    Notes
    -----
    Only the rounding of weights is taken into account; :func:`bias_correction` measures that of
    activations as well, but needs data. At the border of an image that is padded with zeros the
    mean is smaller than assumed. In a transposed convolution a place of the output meets one tap
    of as many as the product of the strides, on average; at its border fewer. Source:
    Nagel et al. 2019, section 4.2.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn, quantization
    >>> from pyqref.quantization.repair import reestimate_batch_norm
    >>> _ = pyqref.manual_seed(0)
    >>> layers = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 3)
    >>> model = quantization.QuantWrapper(nn.Sequential(*layers)).eval()
    >>> x = pyqref.randn(20, 3, 9, 9)
    >>> model = reestimate_batch_norm(model, [x])
    >>> fused = quantization.fuse_modules(model, [["module.0", "module.1", "module.2"]])
    >>> weight = quantization.MinMaxObserver.with_args(
    ...     dtype=pyqref.qint8, qscheme=pyqref.per_tensor_symmetric, quant_min=-8, quant_max=7)
    >>> fused.qconfig = quantization.QConfig(quantization.MinMaxObserver, weight)
    >>> prepared = quantization.prepare(fused)
    >>> _ = prepared(x)
    >>> quantized = quantization.convert(prepared)
    >>> better = analytic_bias_correction(model, quantized)
    >>> def shift(one):
    ...     return float((one(x) - model(x)).mean((0, 2, 3)).abs().max())
    >>> shift(better) < shift(quantized)
    True
    """
    if not inplace:
        quantized_model = copy.deepcopy(quantized_model)
    quantized = dict(quantized_model.named_modules())
    found = _sources(float_model)
    for path in found if layers is None else layers:
        remedy = remedy_of(quantized.get(path))
        if remedy is not None:
            warn(
                f"{path}: its bias is not corrected; a {type(quantized[path]).__name__} is not "
                f"repaired; {remedy}",
                NotRepairedWarning,
            )
        elif layers is not None and (path not in found or not can_be_repaired(quantized.get(path))):
            warn(
                f"{path}: its bias is not corrected; its mean input does not follow from a batch "
                "normalization; call bias_correction with data",
                NotRepairedWarning,
            )
    chosen = [
        path
        for path in found
        if (layers is None or path in layers) and can_be_repaired(quantized.get(path))
    ]
    if not chosen:
        raise ValueError(
            f"analytic_bias_correction: {type(float_model).__name__} has no layer behind a batch "
            "normalization that is quantized in the other model; pass the model before "
            "fuse_modules, or call bias_correction with data"
        )
    for path in chosen:
        layer, source = found[path]
        _correct(path, layer, source, quantized[path])
    return quantized_model


def _correct(path: str, layer: Any, source: _Source, quantized: Any) -> None:
    weight = layer.weight.detach().numpy()
    rounded = quantized.weight()
    if tuple(rounded.shape) != weight.shape:
        raise ValueError(
            f"analytic_bias_correction: {path!r} has a weight of shape {weight.shape} in the float "
            f"model and {tuple(rounded.shape)} in the quantized one; pass models of the same layers"
        )
    parts = grouped(layer), grouped(layer, rounded.dequantize().numpy())
    groups, _, inputs, _ = parts[0].shape
    means = _mean_input(source)
    if groups * inputs % len(means):
        raise ValueError(
            f"analytic_bias_correction: {path!r} takes {groups * inputs} channels, and the batch "
            f"normalization before it gives {len(means)}; leave it out of layers"
        )
    each = np.repeat(means, groups * inputs // len(means)).reshape(groups, inputs)
    if isinstance(layer, TRANSPOSED):
        each = each / np.prod(layer.stride)
    shift = np.concatenate([expected_shift(*one) for one in zip(*parts, each, strict=True)])
    bias = quantized.bias()
    given = np.zeros(len(shift)) if bias is None else bias.detach().numpy()
    quantized.set_weight_bias(rounded, from_numpy(corrected_bias(given, 0.0, shift)))


def _mean_input(source: _Source) -> Array:
    norm = source.norm
    count = norm.num_features
    beta = np.zeros(count) if norm.bias is None else norm.bias.detach().numpy()
    gamma = np.ones(count) if norm.weight is None else norm.weight.detach().numpy()
    if source.function == "relu":
        return mean_of_rectified_normal(beta, gamma)
    if source.function == "relu6":
        return mean_of_clipped_normal(beta, gamma, 0.0, 6.0)
    return np.asarray(beta, np.float64)


def _sources(model: Module) -> dict[str, tuple[Any, _Source]]:
    """Each layer behind a batch normalization, folded with its own, and what it gets."""
    found = {}
    nodes = list(fx.Tracer().trace(model).nodes)
    calls = [str(node.target) for node in nodes if node.op == "call_module"]
    for node in nodes:
        layer = _module(model, node)
        if type(layer) not in _LAYERS or calls.count(str(node.target)) > 1:
            continue
        source = _source(model, node)
        if source is not None:
            found[str(node.target)] = _folded(model, node, layer), source
    return found


def _module(model: Module, node: Node) -> Any:
    return model.get_submodule(str(node.target)) if node.op == "call_module" else None


def _source(model: Module, node: Node) -> _Source | None:
    """Go back from a layer to the batch normalization before it."""
    function = ""
    while node.args and isinstance(node.args[0], Node):
        node = node.args[0]
        module = _module(model, node)
        if isinstance(module, BatchNormBase):
            return _Source(module, function)
        if _keeps_means(module, node):
            continue
        if function or not (type(module) in (nn.ReLU, nn.ReLU6) or _is_relu(node)):
            return None
        function = "relu6" if type(module) is nn.ReLU6 else "relu"
    return None


def _keeps_means(module: Any, node: Node) -> bool:
    if type(module) in _POOLS:
        return all(size == 1 for size in np.ravel(module.output_size))
    return type(module) in _KEEP_MEANS or node.target is flatten


def _is_relu(node: Node) -> bool:
    return node.op != "call_module" and node.target in _RELU


def _folded(model: Module, node: Node, layer: Any) -> Any:
    """The layer, with the batch normalization behind it folded into it."""
    users = list(node.users)
    norm = _module(model, users[0]) if len(users) == 1 else None
    if not isinstance(norm, BatchNormBase):
        return layer
    if isinstance(layer, nn.Linear):
        return fuse_linear_bn_eval(layer, norm)
    return fuse_conv_bn_eval(layer, norm, transpose=isinstance(layer, TRANSPOSED))
