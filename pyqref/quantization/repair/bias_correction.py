"""Bias correction: a quantized layer gets the mean output that the float layer has."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any, Literal

import numpy as np

from pyqref._typing import Model, Module
from pyqref.nn import functional as F
from pyqref.nn import intrinsic as nni
from pyqref.nn import quantized as nnq
from pyqref.nn.intrinsic import quantized as nniq
from pyqref.numerics.bias_repair import corrected_bias
from pyqref.quantization.diagnostics import NotRepairedWarning, warn
from pyqref.tensor import from_numpy

from .running import Moments, batches, called, input_of, listening

__all__ = ["bias_correction"]

_LINEAR = (nnq.Linear, nniq.LinearReLU)
_CONVOLUTIONS: dict[type, Any] = {
    nnq.Conv1d: F.conv1d,
    nnq.Conv2d: F.conv2d,
    nnq.Conv3d: F.conv3d,
    nniq.ConvReLU1d: F.conv1d,
    nniq.ConvReLU2d: F.conv2d,
    nniq.ConvReLU3d: F.conv3d,
}


def bias_correction(
    float_model: Module,
    quantized_model: Model,
    data: Iterable[Any],
    *,
    reference: Literal["model", "layer"] = "model",
    layers: Sequence[str] | None = None,
    inplace: bool = False,
) -> Model:
    r"""Correct the biases of a converted model by the mean error of each layer.

    Rounding weights and clipping activations shifts the mean of a layer's outputs
    (``eq-bias-correction``). The layers are corrected one after the other, from the first to the
    last, so that each is measured behind those that are corrected already.

    Parameters
    ----------
    float_model
        The model before ``prepare``, fused as the quantized one, in evaluation mode.
    quantized_model
        What ``convert`` made of it.
    data
        Batches. They are run once for each layer, so some hundred inputs are enough.
    reference
        ``"model"``: the expected mean is that of the same layer in the float model, as Nagel et al.
        have it. ``"layer"``: that of the float layer when it gets the quantized layer's input, as
        ``torch.ao.quantization._correct_bias`` has it.
    layers
        Paths of layers to correct; all linear and convolution layers if None.
    inplace
        Change the quantized model itself.

    Returns
    -------
    Module
        The quantized model with corrected biases.

    Raises
    ------
    ValueError
        ``data`` is empty, ``reference`` is another word, or no layer can be corrected.

    Warns
    -----
    NotRepairedWarning
        A path has no such layer in both models, or none that can be corrected.

    Notes
    -----
    The mean of a layer that is fused with its ReLU is taken before the ReLU, by the products of the
    integers' real values. Source: Nagel et al. 2019, section 4.2.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn, quantization
    >>> _ = pyqref.manual_seed(0)
    >>> model = nn.Sequential(quantization.QuantStub(), nn.Linear(8, 4), quantization.DeQuantStub())
    >>> model.eval().qconfig = quantization.get_default_qconfig("qnnpack")
    >>> prepared = quantization.prepare(model)
    >>> x = pyqref.rand(200, 8)
    >>> _ = prepared(x)
    >>> quantized = quantization.convert(prepared)
    >>> better = bias_correction(model, quantized, [x])
    >>> def shift(one):
    ...     return float((one(x) - model(x)).mean(0).abs().max())
    >>> shift(better) < shift(quantized)
    True
    """
    if reference not in ("model", "layer"):
        raise ValueError(f"reference must be 'model' or 'layer', got {reference!r}")
    if not inplace:
        quantized_model = copy.deepcopy(quantized_model)
    known = list(batches(data, "bias_correction"))
    for path in _order(float_model, quantized_model, known[0], layers):
        quantized: Any = quantized_model.get_submodule(path)
        expected, found = Moments(_axis(quantized)), Moments(_axis(quantized))
        layer = _float_layer(float_model.get_submodule(path))
        for batch in known:
            x = input_of(quantized_model, path, batch)
            found.add(_before_relu(quantized, x))
            if reference == "layer":
                expected.add(called(layer, x.dequantize()))
            else:
                with listening(layer, lambda _, y, add=expected.add: add(y)):
                    called(float_model, batch)
        bias = quantized.bias()
        given = np.zeros(len(found.mean)) if bias is None else bias.detach().numpy()
        corrected = corrected_bias(given, expected.mean, found.mean)
        quantized.set_weight_bias(quantized.weight(), from_numpy(corrected))
    return quantized_model


def _float_layer(module: Module) -> Any:
    return module[0] if isinstance(module, nni._FusedModule) else module


def _can_be_corrected(module: Any) -> bool:
    return type(module) in (*_LINEAR, *_CONVOLUTIONS)


def _order(
    float_model: Module, quantized_model: Module, batch: Any, layers: Sequence[str] | None
) -> list[str]:
    """Paths of the layers to correct, in the order in which they are called."""
    every = dict(quantized_model.named_modules())
    wanted = list(every) if layers is None else list(layers)
    theirs = dict(float_model.named_modules())
    order: list[str] = []
    with ExitStack() as stack:
        for path in wanted:
            if path in every and _can_be_corrected(every[path]) and path in theirs:
                stack.enter_context(
                    listening(every[path], lambda _, __, path=path: order.append(path))
                )
            elif layers is not None or (path in every and _can_be_corrected(every[path])):
                here, there = (_kind(models, path) for models in (every, theirs))
                warn(
                    f"{path}: its bias is not corrected; it is {here} in the quantized model "
                    f"and {there} in the float one; pass the model that prepare was given, and "
                    "paths of layers that convert quantized",
                    NotRepairedWarning,
                )
        called(quantized_model, batch)
    found = list(dict.fromkeys(order))
    if not found:
        raise ValueError(
            f"bias_correction: {type(quantized_model).__name__} has no quantized linear or "
            "convolution layer that float_model has, too; pass the models before prepare and after "
            "convert"
        )
    return found


def _kind(modules: dict[str, Module], path: str) -> str:
    return f"a {type(modules[path]).__name__}" if path in modules else "missing"


def _axis(quantized: Module) -> int:
    return -1 if isinstance(quantized, _LINEAR) else 1


def _before_relu(quantized: Any, x: Any) -> Any:
    """The outputs of a layer, before the ReLU that is a part of it."""
    if type(quantized) not in (nniq.LinearReLU, nniq.ConvReLU1d, nniq.ConvReLU2d, nniq.ConvReLU3d):
        return called(quantized, x)
    real, weight, bias = x.dequantize(), quantized.weight().dequantize(), quantized.bias()
    if isinstance(quantized, _LINEAR):
        return F.linear(real, weight, bias)
    return _CONVOLUTIONS[type(quantized)](
        real,
        weight,
        bias,
        quantized.stride,
        quantized.padding,
        quantized.dilation,
        quantized.groups,
    )
