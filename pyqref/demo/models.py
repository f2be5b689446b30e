"""The two networks: a small residual CNN, and an LSTM that reads an image row by row."""

from __future__ import annotations

from pyqref import Tensor, nn
from pyqref.quantization import DeQuantStub, QuantStub

__all__ = ["DigitCNN", "ResidualBlock", "RowLSTM"]


class ResidualBlock(nn.Module):
    """``relu(x + bn(conv(relu(bn(conv(x))))))``.

    The addition is a module, a ``FloatFunctional``, because what it computes needs an
    observer of its own; the ``+`` of Python has no place to put one.

    Shape: `(N, channels, H, W)` to the same.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.residual = nn.quantized.FloatFunctional()

    def forward(self, x: Tensor) -> Tensor:
        """Run the block."""
        y = self.relu1(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return self.residual.add_relu(x, y)


class DigitCNN(nn.Module):
    """Two conv-bn-relu, pooling, a residual block, global average pooling, a linear head.

    ``quant`` and ``dequant`` do nothing in the float model. After ``convert`` they are
    the border between float32 and 8-bit integers.

    Shape: `(N, 1, 8, 8)` to logits `(N, 10)`.
    """

    FUSED = [
        ["stem.conv", "stem.bn", "stem.relu"],
        ["widen.conv", "widen.bn", "widen.relu"],
        ["block.conv1", "block.bn1", "block.relu1"],
        ["block.conv2", "block.bn2"],
    ]
    """Modules that ``fuse_modules`` makes one."""

    LAYERS = [
        "quant",
        "stem.conv",
        "widen.conv",
        "pool",
        "block.conv1",
        "block.conv2",
        "block",
        "average",
        "head",
    ]
    """Modules of the fused model, in the order in which they run."""

    def __init__(self, stem: int = 12, width: int = 24) -> None:
        super().__init__()
        self.quant = QuantStub()
        self.stem = conv_bn_relu(1, stem)
        self.widen = conv_bn_relu(stem, width)
        self.pool = nn.MaxPool2d(2)
        self.block = ResidualBlock(width)
        self.average = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(width, 10)
        self.dequant = DeQuantStub()

    def forward(self, x: Tensor) -> Tensor:
        """Logits of a batch of images."""
        x = self.quant(x)
        x = self.pool(self.widen(self.stem(x)))
        x = self.average(self.block(x))
        return self.dequant(self.head(x.flatten(1)))


def conv_bn_relu(in_channels: int, out_channels: int) -> nn.Sequential:
    """A 3 x 3 convolution, its batch norm and its ReLU, with names for ``fuse_modules``."""
    block = nn.Sequential()
    block.add_module("conv", nn.Conv2d(in_channels, out_channels, 3, padding=1, bias=False))
    block.add_module("bn", nn.BatchNorm2d(out_channels))
    block.add_module("relu", nn.ReLU())
    return block


class RowLSTM(nn.Module):
    """Reads an image as a sequence of eight rows; the last hidden state decides.

    Shape: `(N, 1, 8, 8)` to logits `(N, 10)`.
    """

    def __init__(self, hidden: int = 64) -> None:
        super().__init__()
        self.lstm = nn.LSTM(input_size=8, hidden_size=hidden, batch_first=True)
        self.head = nn.Linear(hidden, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Logits of a batch of images."""
        rows = x.squeeze(1)
        states, _ = self.lstm(rows)
        return self.head(states[:, -1])
