"""The weights of dynamic recurrent layers and cells, by name."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...nn.quantized.dynamic.modules.rnn import RNNBase
from ...nn.quantized.dynamic.modules.rnn_cell import RNNCellBase
from ...ops.quantized.packed import PackedWeight

__all__ = ["RecurrentWeights", "recurrent_weights_of"]


class RecurrentWeights(NamedTuple):
    """The weights of all layers and directions.

    Attributes
    ----------
    engine : str
        The one that they were packed for.
    tensors : dict
        Weights and biases by name, such as ``weight_ih_l0``.
    ends : list of str
        What names end with, for each layer and direction in the order of computation.
    """

    engine: str
    tensors: dict[str, Any]
    ends: list[str]


def recurrent_weights_of(what: object) -> RecurrentWeights | None:
    """The weights of a recurrent layer or cell with 8-bit weights; None of other operations.

    Examples
    --------
    >>> from pyqref.nn.quantized import dynamic
    >>> recurrent_weights_of(dynamic.LSTM(2, 1, bidirectional=True)).ends
    ['_l0', '_l0_reverse']
    """
    packed: Any
    if isinstance(what, RNNBase):
        layers: Any = what._all_weight_values
        packed = layers[0].param.of_input
    elif isinstance(what, RNNCellBase):
        packed = what._packed_weight_ih
    else:
        return None
    if not isinstance(packed, PackedWeight):  # in half precision
        return None
    weights = what.get_weight()
    biases = {name: each for name, each in what.get_bias().items() if each is not None}
    ends = [name.removeprefix("weight_ih") for name in weights if name.startswith("weight_ih")]
    return RecurrentWeights(packed.engine, {**weights, **biases}, ends)
