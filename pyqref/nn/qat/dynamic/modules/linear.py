"""The linear layer that is trained for dynamic quantization."""

from __future__ import annotations

from typing import Any

from pyqref._typing import Device, Dtype
from pyqref.nn.qat.modules.linear import Linear as QATLinear

__all__ = ["Linear"]


class Linear(QATLinear):
    r"""A linear layer with fake-quantized weight whose input is quantized while running.

    .. math:: y = \mathrm{fq}(x)\, \mathrm{fq}(W)^T + b

    ``prepare_qat`` attaches the fake quantizer of the *input*, which looks at each tensor
    anew; ``convert`` with the dynamic table swaps the layer for
    :class:`pyqref.nn.quantized.dynamic.Linear`.

    Parameters
    ----------
    in_features, out_features, bias
        As of :class:`pyqref.nn.Linear`.
    qconfig : QConfig
        Its ``activation`` must forget: an observer with ``averaging_constant=1``, such as
        ``default_dynamic_fake_quant``.

    Raises
    ------
    ValueError
        No qconfig was given, or its ``activation`` remembers earlier tensors.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import quantization
    >>> qconfig = quantization.QConfig(
    ...     activation=quantization.default_dynamic_fake_quant,
    ...     weight=quantization.default_weight_fake_quant,
    ... )
    >>> m = pyqref.nn.qat.dynamic.Linear(20, 30, qconfig=qconfig)
    >>> m(pyqref.randn(128, 20)).shape
    pyqref.Size([128, 30])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        qconfig: Any = None,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(in_features, out_features, bias, qconfig, device, dtype)
        activation = qconfig.activation()
        observer = getattr(activation, "activation_post_process", activation)
        if getattr(observer, "averaging_constant", None) != 1:
            raise ValueError(
                "nn.qat.dynamic.Linear: qconfig.activation must look at each tensor anew "
                "(averaging_constant=1); use default_dynamic_qat_qconfig, got "
                f"{type(observer).__name__}"
            )
