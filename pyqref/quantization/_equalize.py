"""Cross-layer equalization under the names of ``torch.ao.quantization._equalize``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyqref._typing import Model, Tensor
from pyqref.numerics.equalization import channel_range as _channel_range
from pyqref.numerics.equalization import equalizing_factors
from pyqref.tensor import from_numpy

from .repair import cross_layer_equalization as _equalization

__all__ = ["channel_range", "cross_layer_equalization", "equalize"]


def channel_range(input: Tensor, axis: int = 0) -> Tensor:
    """The width of the range of each channel (``eq-channel-range``).

    Examples
    --------
    >>> import pyqref
    >>> channel_range(pyqref.tensor([[1.0, -1.0], [0.5, 0.25]]))
    tensor([2.0000, 0.2500])
    """
    return from_numpy(_channel_range(input.detach().numpy(), axis))


def cross_layer_equalization(
    module1: Any, module2: Any, output_axis: int = 0, input_axis: int = 1
) -> None:
    """Equalize two adjacent layers in place (``eq-cross-layer-equalization``).

    Parameters
    ----------
    module1, module2
        Layers with a weight, such as ``Linear`` and ``Conv2d``, the second behind the first.
    output_axis
        The axis of the first weight's output channels.
    input_axis
        The axis of the second weight's input channels.

    Raises
    ------
    ValueError
        The channels are not equally many.

    Notes
    -----
    Source: ``torch.ao.quantization._equalize``, whose bits these are.
    :func:`pyqref.quantization.repair.cross_layer_equalization` finds the pairs of a model, and
    takes groups of channels and flattened images, too.

    Examples
    --------
    >>> import pyqref
    >>> first, second = pyqref.nn.Linear(2, 3), pyqref.nn.Linear(3, 2)
    >>> cross_layer_equalization(first, second)
    >>> pyqref.allclose(channel_range(first.weight), channel_range(second.weight, 1))
    True
    """
    one, two = (each.weight.detach().numpy() for each in (module1, module2))
    if one.shape[output_axis] != two.shape[input_axis]:
        raise ValueError(
            f"module1 has {one.shape[output_axis]} output channels, and module2 takes "
            f"{two.shape[input_axis]}; they must be adjacent"
        )
    factors = equalizing_factors(_channel_range(one, output_axis), _channel_range(two, input_axis))
    inverse = 1 / factors
    along = [-1 if i == output_axis else 1 for i in range(one.ndim)]
    module1.weight.data = from_numpy(one * inverse.reshape(along))
    if module1.bias is not None:
        module1.bias.data = from_numpy(module1.bias.detach().numpy() * inverse)
    along = [-1 if i == input_axis else 1 for i in range(two.ndim)]
    module2.weight.data = from_numpy(two * factors.reshape(along))


def equalize(
    model: Model,
    paired_modules_list: Sequence[Sequence[Any]],
    threshold: float = 1e-4,
    inplace: bool = True,
) -> Model:
    """Equalize pairs of adjacent layers of a model until they no longer move.

    :func:`pyqref.quantization.repair.cross_layer_equalization`, with torch's arguments. Lists hold
    paths or modules, and more than two of them are a chain.

    Examples
    --------
    >>> from pyqref import nn
    >>> model = equalize(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2)), [["0", "2"]])
    >>> type(model).__name__
    'Sequential'
    """
    return _equalization(model, paired_modules_list, threshold=threshold, inplace=inplace)
