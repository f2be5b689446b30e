"""Bias correction: a quantized layer gets the mean output that the float layer has."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from pyqref._typing import Model, Module
from pyqref.nn import functional as F
from pyqref.nn import quantized as nnq
from pyqref.nn.intrinsic import quantized as nniq
from pyqref.numerics.bias_repair import corrected_bias
from pyqref.tensor import from_numpy

from .quantized_layers import channel_axis, float_layer, has_relu, layers_in_order
from .running import Moments, batches, called, input_of, listening

__all__ = ["bias_correction"]

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
        A path has no such layer in both models, or a layer with a quantized weight is of a kind
        that is not corrected, such as a dynamic one or one that is fused with an addition.

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
    for path in layers_in_order(
        "bias_correction",
        "its bias is not corrected",
        float_model,
        quantized_model,
        known[0],
        layers,
    ):
        quantized: Any = quantized_model.get_submodule(path)
        expected, found = Moments(channel_axis(quantized)), Moments(channel_axis(quantized))
        layer = float_layer(float_model.get_submodule(path))
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


def _before_relu(quantized: Any, x: Any) -> Any:
    """The outputs of a layer, before the ReLU that is a part of it."""
    if not has_relu(quantized):
        return called(quantized, x)
    real, weight, bias = x.dequantize(), quantized.weight().dequantize(), quantized.bias()
    if isinstance(quantized, nnq.Linear | nniq.LinearReLU):
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
