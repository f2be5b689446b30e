"""The qconfigs that have a name of their own, and the usual one for each back end."""

from __future__ import annotations

from pyqref.dtypes import float16, float32, qint8, quint8
from pyqref.nn.modules import Identity
from pyqref.quantization.fake_quantize.defaults import (
    default_dynamic_fake_quant,
    default_embedding_fake_quant,
    default_embedding_fake_quant_4bit,
    default_fake_quant,
    default_fused_act_fake_quant,
    default_fused_per_channel_wt_fake_quant,
    default_fused_wt_fake_quant,
    default_per_channel_weight_fake_quant,
    default_weight_fake_quant,
    fused_per_channel_wt_fake_quant_range_neg_127_to_127,
    fused_wt_fake_quant_range_neg_127_to_127,
)
from pyqref.quantization.fake_quantize.fake_quantize import FakeQuantize
from pyqref.quantization.fake_quantize.fused import FusedMovingAvgObsFakeQuantize
from pyqref.quantization.observer.defaults import (
    default_debug_observer,
    default_float_qparams_observer,
    default_float_qparams_observer_4bit,
    default_observer,
    default_per_channel_weight_observer,
    default_placeholder_observer,
    default_reuse_input_observer,
    default_weight_observer,
    per_channel_weight_observer_range_neg_127_to_127,
    weight_observer_range_neg_127_to_127,
)
from pyqref.quantization.observer.histogram import HistogramObserver
from pyqref.quantization.observer.min_max import MinMaxObserver
from pyqref.quantization.observer.moving_average_min_max import MovingAverageMinMaxObserver
from pyqref.quantization.observer.noop import NoopObserver
from pyqref.quantization.observer.placeholder import PlaceholderObserver

from .base import QConfig, QConfigDynamic

__all__ = [
    "default_activation_only_qconfig",
    "default_debug_qconfig",
    "default_dynamic_qat_qconfig",
    "default_dynamic_qconfig",
    "default_embedding_qat_qconfig",
    "default_embedding_qat_qconfig_4bit",
    "default_per_channel_qconfig",
    "default_per_channel_symmetric_qnnpack_qat_qconfig",
    "default_per_channel_symmetric_qnnpack_qconfig",
    "default_qat_qconfig",
    "default_qat_qconfig_v2",
    "default_qconfig",
    "default_quint8_weight_qconfig",
    "default_reuse_input_qconfig",
    "default_symmetric_qnnpack_qat_qconfig",
    "default_symmetric_qnnpack_qconfig",
    "default_weight_only_qconfig",
    "float16_dynamic_qconfig",
    "float16_static_qconfig",
    "float_qparams_weight_only_qconfig",
    "float_qparams_weight_only_qconfig_4bit",
    "get_default_qat_qconfig",
    "get_default_qconfig",
    "per_channel_dynamic_qconfig",
]

_EPS_2_12 = 2**-12
_BACKENDS = ("fbgemm", "x86", "qnnpack", "onednn")

# Static quantization.

default_qconfig = QConfig(activation=default_observer, weight=default_weight_observer)
default_per_channel_qconfig = QConfig(
    activation=default_observer, weight=default_per_channel_weight_observer
)
default_debug_qconfig = QConfig(weight=default_weight_observer, activation=default_debug_observer)
default_quint8_weight_qconfig = QConfig(activation=HistogramObserver, weight=MinMaxObserver)
default_symmetric_qnnpack_qconfig = QConfig(
    activation=HistogramObserver.with_args(dtype=qint8, reduce_range=False, eps=_EPS_2_12),
    weight=weight_observer_range_neg_127_to_127,
)
default_per_channel_symmetric_qnnpack_qconfig = QConfig(
    activation=HistogramObserver.with_args(dtype=qint8, reduce_range=False, eps=_EPS_2_12),
    weight=per_channel_weight_observer_range_neg_127_to_127,
)
default_reuse_input_qconfig = QConfig(activation=default_reuse_input_observer, weight=NoopObserver)
float16_static_qconfig = QConfig(
    activation=PlaceholderObserver.with_args(dtype=float16),
    weight=PlaceholderObserver.with_args(dtype=float16),
)

# Dynamic quantization.

default_dynamic_qconfig = QConfigDynamic(weight=default_weight_observer)
per_channel_dynamic_qconfig = QConfigDynamic(weight=default_per_channel_weight_observer)
float16_dynamic_qconfig = QConfigDynamic(
    activation=PlaceholderObserver.with_args(dtype=float16, is_dynamic=True),
    weight=NoopObserver.with_args(dtype=float16),
)
float_qparams_weight_only_qconfig = QConfig(
    activation=default_placeholder_observer, weight=default_float_qparams_observer
)
float_qparams_weight_only_qconfig_4bit = QConfig(
    activation=default_placeholder_observer, weight=default_float_qparams_observer_4bit
)

# Quantization-aware training.

default_qat_qconfig = QConfig(activation=default_fake_quant, weight=default_weight_fake_quant)
default_qat_qconfig_v2 = QConfig(
    activation=default_fused_act_fake_quant, weight=default_fused_wt_fake_quant
)
default_dynamic_qat_qconfig = QConfig(
    activation=default_dynamic_fake_quant, weight=default_weight_fake_quant
)
default_weight_only_qconfig = QConfig(activation=Identity, weight=default_weight_fake_quant)
default_activation_only_qconfig = QConfig(activation=default_fake_quant, weight=Identity)
default_embedding_qat_qconfig = QConfig(
    activation=NoopObserver.with_args(dtype=float32), weight=default_embedding_fake_quant
)
default_embedding_qat_qconfig_4bit = QConfig(
    activation=NoopObserver.with_args(dtype=float32), weight=default_embedding_fake_quant_4bit
)
_qnnpack_symmetric_activation = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    quant_min=-128,
    quant_max=127,
    dtype=qint8,
    reduce_range=False,
    eps=_EPS_2_12,
)
default_symmetric_qnnpack_qat_qconfig = QConfig(
    activation=_qnnpack_symmetric_activation, weight=fused_wt_fake_quant_range_neg_127_to_127
)
default_per_channel_symmetric_qnnpack_qat_qconfig = QConfig(
    activation=_qnnpack_symmetric_activation,
    weight=fused_per_channel_wt_fake_quant_range_neg_127_to_127,
)

# For graph mode: what is not quantized, and inputs that are quantized already.

_default_fp32_placeholder_qconfig = QConfig(
    activation=PlaceholderObserver.with_args(dtype=float32),
    weight=PlaceholderObserver.with_args(dtype=float32),
)
_default_quint8_placeholder_qconfig = QConfig(
    activation=PlaceholderObserver.with_args(dtype=quint8), weight=None
)


def get_default_qconfig(backend: str = "x86", version: int = 0) -> QConfig:
    """The usual qconfig of a back end for static quantization.

    Parameters
    ----------
    backend
        ``"fbgemm"``, ``"x86"``, ``"qnnpack"`` or ``"onednn"``. Activations are observed by
        histograms, of 7 bits for ``fbgemm`` and ``x86``; weights have a scale for each
        output channel, except for ``qnnpack``.
    version
        0, the only one.

    Raises
    ------
    ValueError
        There is no such back end, or version.

    Examples
    --------
    >>> get_default_qconfig("qnnpack").weight().qscheme
    pyqref.per_tensor_symmetric
    """
    _check_backend("get_default_qconfig", backend, version, (0,))
    return QConfig(
        activation=HistogramObserver.with_args(reduce_range=backend in ("fbgemm", "x86")),
        weight=default_weight_observer
        if backend == "qnnpack"
        else default_per_channel_weight_observer,
    )


def get_default_qat_qconfig(backend: str = "x86", version: int = 1) -> QConfig:
    """The usual qconfig of a back end for quantization-aware training.

    Parameters
    ----------
    backend
        ``"fbgemm"``, ``"x86"``, ``"qnnpack"`` or ``"onednn"``.
    version
        1, the fused fake quantizers, or 0, the separate ones.

    Raises
    ------
    ValueError
        There is no such back end, or version.

    Examples
    --------
    >>> type(get_default_qat_qconfig("fbgemm").activation()).__name__
    'FusedMovingAvgObsFakeQuantize'
    """
    _check_backend("get_default_qat_qconfig", backend, version, (0, 1))
    kind, per_tensor, per_channel = (
        (FakeQuantize, default_weight_fake_quant, default_per_channel_weight_fake_quant),
        (
            FusedMovingAvgObsFakeQuantize,
            default_fused_wt_fake_quant,
            default_fused_per_channel_wt_fake_quant,
        ),
    )[version]
    activation = kind.with_args(
        observer=MovingAverageMinMaxObserver,
        quant_min=0,
        quant_max=255,
        reduce_range=backend in ("fbgemm", "x86"),
    )
    return QConfig(
        activation=activation, weight=per_tensor if backend == "qnnpack" else per_channel
    )


def _check_backend(name: str, backend: str, version: int, versions: tuple[int, ...]) -> None:
    if backend not in _BACKENDS:
        choices = ", ".join(repr(each) for each in _BACKENDS)
        raise ValueError(f"{name}: backend must be one of {choices}, got {backend!r}")
    if version not in versions:
        choices = " or ".join(str(each) for each in versions)
        raise ValueError(f"{name}: version must be {choices}, got {version!r}")
