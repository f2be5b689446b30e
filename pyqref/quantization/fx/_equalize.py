"""Input-weight equalization, under the names of ``torch.ao.quantization.fx._equalize``.

``prepare_fx(..., _equalization_config=QConfigMapping().set_global(default_equalization_qconfig))``
observes each column of a layer's input beside its weight; ``convert_fx`` scales both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pyqref._typing import Tensor
from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import (
    per_channel_affine,
    per_channel_symmetric,
    per_tensor_affine,
    per_tensor_symmetric,
    qint8,
    quint8,
)
from pyqref.dtypes import qscheme as Qscheme
from pyqref.nn import Module
from pyqref.numerics.equalization import input_weight_factors
from pyqref.quantization.observer import PerChannelMinMaxObserver
from pyqref.quantization.observer.partial import PartialWrapper, make_partial
from pyqref.tensor import from_numpy, tensor

__all__ = [
    "EqualizationQConfig",
    "calculate_equalization_scale",
    "default_equalization_qconfig",
    "input_equalization_observer",
    "is_equalization_observer",
    "weight_equalization_observer",
]

_PER_CHANNEL = {
    per_tensor_affine: per_channel_affine,
    per_tensor_symmetric: per_channel_symmetric,
}


class _EqualizationObserver(Module):
    """Columns of a tensor, each with its range, and the factors that they are scaled by."""

    equalization_scale: Tensor

    def __init__(
        self,
        dtype: Dtype,
        qscheme: Qscheme,
        quant_min: int | None,
        quant_max: int | None,
        factory_kwargs: dict[str, Any] | None,
    ) -> None:
        super().__init__()
        self.dtype, self.qscheme = dtype, qscheme
        columns = PerChannelMinMaxObserver(
            ch_axis=1,
            dtype=dtype,
            qscheme=_PER_CHANNEL.get(qscheme, qscheme),
            quant_min=quant_min,
            quant_max=quant_max,
            factory_kwargs=factory_kwargs,
        )
        setattr(self, self._COLUMNS, columns)
        self.equalization_scale = tensor(1)

    _COLUMNS = ""

    @classmethod
    def with_args(cls, **kwargs: object) -> PartialWrapper:
        """A recipe for this observer with these arguments."""
        return make_partial(cls, **kwargs)

    def forward(self, x: Tensor) -> Tensor:
        """Look at a tensor of two to five dimensions, and return it."""
        if not 2 <= x.ndim <= 5:
            raise ValueError(
                f"{type(self).__name__} takes inputs and weights of linear and convolution "
                f"layers, with two to five dimensions, got {x.ndim}; give the layer batches"
            )
        return self._columns()(x)

    def _columns(self) -> Any:
        return getattr(self, self._COLUMNS)

    def _ranges(self) -> tuple[Tensor, Tensor]:
        return self._columns().min_val, self._columns().max_val

    def set_equalization_scale(self, equalization_scale: Tensor) -> None:
        """Keep the factors; :func:`calculate_equalization_scale` computes them."""
        self.equalization_scale = equalization_scale


class _InputEqualizationObserver(_EqualizationObserver):
    """Observe the range of each column of a layer's input.

    Parameters
    ----------
    dtype, qscheme, quant_min, quant_max, factory_kwargs
        As in :class:`~pyqref.quantization.PerChannelMinMaxObserver`. Ranges do not depend on them.

    Notes
    -----
    Source: ``torch.ao.quantization.fx._equalize``. The columns of a linear layer's input are its
    last dimension in :func:`~pyqref.quantization.quantize_fx.prepare_fx`, also where there are
    more than two.

    Examples
    --------
    >>> import pyqref
    >>> observer = _InputEqualizationObserver()
    >>> _ = observer(pyqref.tensor([[1.0, -20.0], [3.0, 30.0]]))
    >>> observer.get_input_minmax()
    (tensor([  1., -20.]), tensor([ 3., 30.]))
    """

    _COLUMNS = "input_obs"

    def __init__(
        self,
        dtype: Dtype = quint8,
        qscheme: Qscheme = per_tensor_affine,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(dtype, qscheme, quant_min, quant_max, factory_kwargs)

    def get_input_minmax(self) -> tuple[Tensor, Tensor]:
        """The smallest and the largest number of each column."""
        return self._ranges()

    def calculate_scaled_minmax(self) -> tuple[Tensor, Tensor] | tuple[None, None]:
        """The range of the whole input after each column was multiplied by its factor.

        Returns
        -------
        Tensor, Tensor
            Or None and None before there are factors.
        """
        if self.equalization_scale.ndim == 0:
            return None, None
        factors = self.equalization_scale.reshape(-1)
        low, high = self._ranges()
        return (low * factors).min(), (high * factors).max()


class _WeightEqualizationObserver(_EqualizationObserver):
    """Observe the range of each column of a layer's weight, ``(N, C, ...)``.

    Parameters
    ----------
    dtype, qscheme, quant_min, quant_max, factory_kwargs
        As in :class:`~pyqref.quantization.PerChannelMinMaxObserver`. Ranges do not depend on them.

    Notes
    -----
    Source: ``torch.ao.quantization.fx._equalize``.

    Examples
    --------
    >>> import pyqref
    >>> observer = _WeightEqualizationObserver()
    >>> _ = observer(pyqref.tensor([[4.0, -1.0], [8.0, 1.0]]))
    >>> observer.get_weight_col_minmax()
    (tensor([ 4., -1.]), tensor([8., 1.]))
    """

    _COLUMNS = "weight_col_obs"

    def __init__(
        self,
        dtype: Dtype = qint8,
        qscheme: Qscheme = per_tensor_affine,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(dtype, qscheme, quant_min, quant_max, factory_kwargs)

    def get_weight_col_minmax(self) -> tuple[Tensor, Tensor]:
        """The smallest and the largest number of each column."""
        return self._ranges()


def calculate_equalization_scale(
    input_obs: _InputEqualizationObserver, weight_obs: _WeightEqualizationObserver
) -> Tensor:
    """The factors of the columns (``eq-input-weight-equalization``).

    Parameters
    ----------
    input_obs, weight_obs
        After they have seen the input and the weight of a layer.

    Returns
    -------
    Tensor
        ``(C,)``; the number 1 if one of them has seen nothing.

    Raises
    ------
    ValueError
        They have seen different numbers of columns.

    Examples
    --------
    >>> import pyqref
    >>> input_obs, weight_obs = _InputEqualizationObserver(), _WeightEqualizationObserver()
    >>> _ = input_obs(pyqref.tensor([[0.0, 0.0], [1.0, 16.0]]))
    >>> _ = weight_obs(pyqref.tensor([[0.0, 0.0], [4.0, 1.0]]))
    >>> calculate_equalization_scale(input_obs, weight_obs)
    tensor([2.0000, 0.2500])
    """
    seen = [*input_obs.get_input_minmax(), *weight_obs.get_weight_col_minmax()]
    if not all(each.numel() for each in seen):
        return tensor(1)
    if seen[0].shape != seen[2].shape:
        raise ValueError(
            f"an input has {len(seen[0])} columns, and the weight {len(seen[2])}; both must have "
            "the same number"
        )
    ranges = [each.numpy() for each in (seen[1] - seen[0], seen[3] - seen[2])]
    return from_numpy(input_weight_factors(*ranges))


def is_equalization_observer(observer: object) -> bool:
    """Return True for observers that measure columns for the equalization."""
    return isinstance(observer, _EqualizationObserver)


class EqualizationQConfig(NamedTuple):
    """Which observers measure the columns of a layer's input and weight.

    Attributes
    ----------
    input_activation, weight
        Observer classes, or recipes made by ``with_args``.

    Examples
    --------
    >>> EqualizationQConfig().input_activation()
    _InputEqualizationObserver(
      (input_obs): PerChannelMinMaxObserver(min_val=tensor([]), max_val=tensor([]))
    )
    """

    input_activation: Any = _InputEqualizationObserver
    weight: Any = _WeightEqualizationObserver


input_equalization_observer = _InputEqualizationObserver.with_args(
    dtype=quint8, qscheme=per_tensor_symmetric
)
weight_equalization_observer = _WeightEqualizationObserver.with_args(
    dtype=qint8, qscheme=per_channel_symmetric
)
default_equalization_qconfig = EqualizationQConfig(
    input_equalization_observer, weight_equalization_observer
)
