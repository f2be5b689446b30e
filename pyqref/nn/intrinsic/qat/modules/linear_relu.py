"""Linear layer and ReLU for quantization-aware training."""

from __future__ import annotations

from typing import ClassVar

from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.nn.intrinsic.modules.fused_linear import LinearReLU as FloatLinearReLU
from pyqref.nn.modules import Module
from pyqref.nn.qat.modules.linear import Linear as QATLinear

from ....._typing import QConfigLike
from .then_relu import ThenReLU

__all__ = ["LinearReLU"]


class LinearReLU(ThenReLU, QATLinear, _FusedModule):
    r"""A linear layer with fake-quantized weight, and ReLU.

    .. math:: y = \max(0, x \, \mathrm{fq}(W)^T + b)

    Between the two nothing is rounded: one fake quantizer follows the ReLU.

    Parameters
    ----------
    in_features, out_features : int
    bias : bool
    qconfig : QConfig
        Its ``weight`` makes ``weight_fake_quant``.

    Raises
    ------
    ValueError
        No qconfig was given.

    Notes
    -----
    The documentation of 1.4 prints its example as ``nn.qat.LinearReLU``; the class
    stands here, in ``nn.intrinsic.qat``.

    Examples
    --------
    >>> import pyqref
    >>> qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    >>> m = pyqref.nn.intrinsic.qat.LinearReLU(20, 30, qconfig=qconfig)
    >>> bool(m(pyqref.randn(128, 20)).min() >= 0)
    True
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatLinearReLU
    _FLOAT_GROUP: ClassVar[type[Module]] = FloatLinearReLU

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        qconfig: QConfigLike | None = None,
    ) -> None:
        super().__init__(in_features, out_features, bias, qconfig)
