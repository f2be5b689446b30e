"""Facts that some systems look at beside the integers: kind of the layer, and its windows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Packed

__all__ = ["LINEAR", "Layer", "layer_of"]


@dataclass(frozen=True)
class Layer:
    """The place of an accumulator: most systems do not look at it.

    Attributes
    ----------
    kind : str
        ``"linear"`` or ``"conv"``.
    channels : int
        How many of the integers of a row stand side by side in each tap: the input channels of a
        group. 0, as in a linear layer: all of them.
    outputs : int
        Output channels of a group.
    groups : int
        Groups of the convolution.

    Examples
    --------
    >>> Layer("conv", channels=16, outputs=32).groups
    1
    """

    kind: str = "linear"
    channels: int = 0
    outputs: int = 0
    groups: int = 1

    def taps(self, row: np.ndarray) -> np.ndarray:
        """A row ``(..., K)`` as ``(..., taps, channels)``.

        Examples
        --------
        >>> Layer("conv", channels=2).taps(np.arange(4)).tolist()
        [[0, 1], [2, 3]]
        """
        channels = self.channels or row.shape[-1]
        return row.reshape(*row.shape[:-1], -1, channels)


#: A linear layer.
LINEAR = Layer()


def layer_of(packed: Packed) -> Layer:
    """The place of the accumulators of a packed weight.

    Examples
    --------
    >>> import pyqref
    >>> conv = pyqref.nn.quantized.Conv2d(4, 6, 3, groups=2)
    >>> layer_of(conv._packed_params)
    Layer(kind='conv', channels=2, outputs=3, groups=2)
    """
    if packed.operation == "qgemm":
        return LINEAR
    groups = packed.groups
    channels = packed.in_channels // groups
    outputs = packed.shape[1] if packed.transposed else packed.shape[0] // groups
    return Layer("conv", channels, outputs, groups)
