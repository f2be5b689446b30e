"""Normalizations: real numbers between two grids."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...nn import modules as nn
from ...nn import quantized as nnq
from ...nn.intrinsic import quantized as nniq
from ..maker import Maker
from ..problems import Unsupported
from ..table import Layer, lowering
from ..wire import Wire

__all__: list[str] = []


def _affine(make: Maker, layer: Any, shape: Any) -> list[str]:
    """Names of weight and bias, which are one and zero where the layer has none."""
    weight, bias = layer.weight, layer.bias
    return [
        make.constant("weight", np.ones(shape) if weight is None else weight.detach().numpy()),
        make.constant("bias", np.zeros(shape) if bias is None else bias.detach().numpy()),
    ]


def _as_float32(make: Maker, names: list[str]) -> list[str]:
    for name in names:
        make.constants[name] = make.constants[name].astype(np.float32)
    return names


@lowering(nn.LayerNorm)
def layer_norm(make: Maker, layer: Layer, x: Wire) -> str:
    """The last axes normalized."""
    inputs = [make.real(x), *_as_float32(make, _affine(make, layer, layer.normalized_shape))]
    axis = -len(layer.normalized_shape)
    return make.finish(make.node("LayerNormalization", inputs, axis=axis, epsilon=layer.eps))


@lowering(nn.GroupNorm)
def group_norm(make: Maker, layer: Layer, x: Wire) -> str:
    """Groups of channels normalized."""
    inputs = [make.real(x), *_as_float32(make, _affine(make, layer, layer.num_channels))]
    groups = int(layer.num_groups)
    kind = "GroupNormalization"
    return make.finish(make.node(kind, inputs, num_groups=groups, epsilon=layer.eps))


@lowering(nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)
@lowering(nnq.InstanceNorm1d, nnq.InstanceNorm2d, nnq.InstanceNorm3d)
def instance_norm(make: Maker, layer: Layer, x: Wire) -> str:
    """Channels of each image normalized."""
    if getattr(layer, "running_mean", None) is not None:
        raise Unsupported("track_running_stats=True is not exported")
    inputs = [make.real(x), *_as_float32(make, _affine(make, layer, layer.num_features))]
    return make.finish(make.node("InstanceNormalization", inputs, epsilon=layer.eps))


@lowering(nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nnq.BatchNorm2d, nnq.BatchNorm3d)
def batch_norm(make: Maker, layer: Layer, x: Wire) -> str:
    """Channels scaled by statistics of the training."""
    if layer.training and type(layer).__module__.startswith("pyqref.nn.modules"):
        raise Unsupported("it is in training mode: call model.eval() first")
    names = _affine(make, layer, layer.num_features)
    names.append(make.constant("running_mean", layer.running_mean.numpy()))
    names.append(make.constant("running_var", layer.running_var.numpy()))
    inputs = [make.real(x), *_as_float32(make, names)]
    real = make.node("BatchNormalization", inputs, epsilon=layer.eps)
    if isinstance(layer, nniq.BNReLU2d | nniq.BNReLU3d):
        real = make.node("Relu", [real])
    return make.finish(real)
