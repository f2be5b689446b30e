"""A network with every kind of layer that has a form in C; each kind gives an output."""

from __future__ import annotations

from typing import Any

import numpy as np

import pyqref
from pyqref import nn
from pyqref.nn import functional as F
from pyqref.nn import quantized as nnq
from pyqref.nn.intrinsic import quantized as nniq
from pyqref.ops import quantized as ops

__all__ = ["GRID", "Everything", "image"]

GRID = (0.043, 121)
SILU = (0.021, 15, pyqref.quint8)


def filled(layer: Any, axis: int = 0, per_channel: bool = True, bias: bool = True) -> Any:
    """A layer with random weights, whose scales differ by channel or whose zero point is not 0."""
    shape = layer.weight().shape
    real = pyqref.randn(*shape) * 0.3
    if per_channel:
        scales = 0.002 + 0.004 * pyqref.rand(shape[axis])
        zeros = pyqref.zeros(shape[axis], dtype=pyqref.int64)
        weight = pyqref.quantize_per_channel(real, scales, zeros, axis, pyqref.qint8)
    else:
        weight = pyqref.quantize_per_tensor(real, 0.0071, 5, pyqref.qint8)
    outputs = layer.bias().shape if layer.bias() is not None else None
    layer.set_weight_bias(weight, pyqref.randn(*outputs) if bias and outputs else None)
    layer.scale, layer.zero_point = 0.093, 117
    return layer


class Everything(nn.Module):
    """Layers of all kinds beside each other, for pictures of 6 channels, 9 by 7.

    The results at :attr:`OF_SOFTMAX` are those of softmax.
    """

    OF_SOFTMAX = (26, 27)

    def __init__(self) -> None:
        super().__init__()
        pyqref.manual_seed(0)
        self.quant = nnq.Quantize(pyqref.tensor([GRID[0]]), pyqref.tensor([GRID[1]]), pyqref.quint8)
        convolution, transposed = nnq.Conv2d, nnq.ConvTranspose2d
        self.softmax = nnq.Softmax(1, 1 / 256, 0), nnq.Softmax(-1, 1 / 200, 3)
        self.layers = nn.ModuleList(
            [
                filled(convolution(6, 4, 3, padding=1)),
                filled(nniq.ConvReLU2d(6, 6, (3, 2), stride=(2, 1), groups=6)),
                filled(convolution(6, 4, (1, 3), dilation=(1, 2), groups=2), per_channel=False),
                filled(convolution(6, 3, (2, 4), padding="same"), bias=False),
                filled(
                    transposed(6, 4, 3, stride=2, padding=1, output_padding=1), per_channel=False
                ),
                filled(
                    transposed(6, 4, (2, 3), groups=2, dilation=2), per_channel=False, bias=False
                ),
                nn.MaxPool2d(3, 2, 1, ceil_mode=True),
                nn.MaxPool2d((2, 3), 1, dilation=2),
                nn.AvgPool2d(3, 2, 1),
                nn.AvgPool2d(2, 2, 1, ceil_mode=True, count_include_pad=False),
                nn.AvgPool2d((3, 2), 1, divisor_override=5),
                nn.AdaptiveAvgPool2d((4, 3)),
                nn.AdaptiveAvgPool2d((3, 1)),
                nn.AdaptiveAvgPool2d(1),
                nnq.Hardswish(0.03, 20),
                nnq.LeakyReLU(0.04, 90, 0.2),
                nnq.ELU(0.04, 60),
                nnq.Sigmoid(1 / 256, 0),
                nn.ReLU(),
                nn.ReLU6(),
                nn.Hardtanh(-0.5, 1.5),
                nn.Hardsigmoid(),
                nn.Tanh(),
                nn.Upsample(scale_factor=2.3),
                nn.ChannelShuffle(3),
                nn.Identity(),
                *self.softmax,
            ]
        )
        self.line = filled(nnq.Conv1d(6, 5, 3, padding=1, stride=2))
        self.back = filled(nnq.ConvTranspose1d(6, 2, 4, stride=3, padding=1), per_channel=False)
        self.flat = filled(nniq.LinearReLU(378, 10))
        self.row = filled(nnq.Linear(7, 5), per_channel=False)
        self.sum, self.all = nnq.QFunctional(), nnq.QFunctional()
        self.sum.scale, self.sum.zero_point = 0.11, 100
        self.all.scale, self.all.zero_point = 0.05, 128

    def forward(self, picture: Any) -> Any:
        """One result for each kind."""
        x = self.quant(picture)
        results = [layer(x) for layer in self.layers]
        y = results[0]  # 4 channels
        first, second = x.chunk(2, 1)
        line, volume = x.flatten(2), x.reshape(1, 2, 3, 9, 7)
        results += [
            self.line(line),
            self.back(line),
            F.max_pool1d(line, 3, 2),
            F.avg_pool1d(line, 4, 3),
            F.adaptive_avg_pool1d(line, 4),
            self.flat(x.flatten(1)),
            self.row(x),
            self.sum.add(x, x),
            self.sum.add_relu(first, second),
            self.sum.mul(first, second),
            ops.mul_relu(x, self.layers[13](x), 0.09, 100),
            ops.add(self.layers[13](x), x, 0.07, 128),
            ops.add_scalar(x, 0.7),
            ops.mul_scalar(x, -0.4),
            self.all.cat([x, y], 1),
            ops.cat_relu([x, results[16]], 2, 0.06, 110),
            F.gelu(x),
            ops.celu(x, 0.05, 60, 0.7),
            F.threshold(x, 0.3, -0.2),
            pyqref.relu_(x[:, :2].clone()),
            self.all.cat([pyqref.quantize_per_tensor(F.silu(x.dequantize()), *SILU)], 1),
            x.mean([2, 3]),
            x.mean((-1,), keepdim=True),
            x.permute(0, 2, 3, 1),
            x[:, 1:4, ::2, -1],
            x.transpose(1, 2).reshape(1, 9, 42),
            F.interpolate(x, size=(5, 13), mode="nearest"),
            F.interpolate(volume, scale_factor=2, mode="nearest"),
            F.max_pool3d(volume, (2, 3, 2), 2, (1, 0, 1), ceil_mode=True),
            F.max_pool3d(volume, (2, 3, 2), 1, dilation=(1, 2, 3)),
            F.avg_pool3d(volume, (2, 3, 3), (1, 2, 2), 1),
            F.avg_pool3d(volume, 2, 2, 1, ceil_mode=True, count_include_pad=False),
            F.avg_pool3d(volume, (3, 2, 2), divisor_override=7),
            F.adaptive_avg_pool3d(volume, (2, 4, 1)),
            F.adaptive_avg_pool3d(volume, 1),
            F.avg_pool2d(F.max_pool2d(x[0], 2), 2, 1),
            pyqref.quantize_per_tensor(x.dequantize()[:, :2], 0.06, 90, pyqref.quint8),
        ]
        return tuple(results)


def image(runs: int) -> np.ndarray:
    """Random bytes, ends of the range among them."""
    random = np.random.default_rng(1)
    bytes_ = random.integers(0, 256, (runs, 1, 6, 9, 7), dtype=np.uint8)
    bytes_[0, 0, 0], bytes_[0, 0, 1] = 0, 255
    return bytes_
