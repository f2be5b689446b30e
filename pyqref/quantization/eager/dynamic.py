"""``quantize_dynamic``: weights ahead of time, inputs while running."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from pyqref._typing import Module
from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import float16, qint8, quint4x2, quint8
from pyqref.nn import modules as nn
from pyqref.quantization.diagnostics import NotQuantizedWarning, strictly, warn
from pyqref.quantization.qconfig.defaults import (
    default_dynamic_qconfig,
    float16_dynamic_qconfig,
    float_qparams_weight_only_qconfig,
    float_qparams_weight_only_qconfig_4bit,
)
from pyqref.quantization.quantization_mappings import get_default_dynamic_quant_module_mappings
from pyqref.tensor.arguments import described

from .convert import clean, convert_with
from .paths import require_mapping, require_module
from .propagate import (
    planned_qconfigs,
    propagate_qconfig_,
    require_entry,
    require_qconfigs,
)
from .steps import warn_of_root

__all__ = ["quantize_dynamic"]

_WITH_INPUTS = (nn.Linear, nn.LSTM, nn.GRU, nn.LSTMCell, nn.RNNCell, nn.GRUCell)
#: For each dtype of weights the qconfig, and the layers that have such weights.
_DEFAULTS: dict[Any, tuple[Any, tuple[type, ...]]] = {
    qint8: (default_dynamic_qconfig, _WITH_INPUTS),
    float16: (float16_dynamic_qconfig, _WITH_INPUTS),
    quint8: (float_qparams_weight_only_qconfig, (nn.Embedding, nn.EmbeddingBag)),
    quint4x2: (float_qparams_weight_only_qconfig_4bit, (nn.EmbeddingBag,)),
}


def quantize_dynamic(
    model: Module,
    qconfig_spec: Mapping[Any, Any] | Iterable[Any] | None = None,
    dtype: Dtype = qint8,
    mapping: Mapping[Any, Any] | None = None,
    inplace: bool = False,
    strict: bool = False,
) -> Module:
    """Convert a float model to one whose weights are quantized.

    The inputs of the swapped layers are quantized while running, with parameters chosen
    for each tensor. No calibration is needed.

    Parameters
    ----------
    model
        The float model.
    qconfig_spec
        What to quantize: a dictionary from names or types of submodules to
        :class:`~pyqref.quantization.QConfigDynamic`, or a set of names and types, which
        get the qconfig for ``dtype``. None: all linear and recurrent layers.
    dtype
        ``qint8`` or ``float16``, of the weights of linear and recurrent layers; ``quint8``
        or ``quint4x2``, of embeddings. Not looked at where ``qconfig_spec`` has qconfigs.
    mapping
        From float types to dynamically quantized types; the default table if None.
    inplace
        Change the model itself.
    strict
        Raise :class:`~pyqref.quantization.QuantizationError` in place of each warning.

    Returns
    -------
    Module
        The quantized model, in evaluation mode.

    Warns
    -----
    NoMatchWarning
        Something asked for fits no submodule.
    NotQuantizedWarning
        Something asked for cannot be quantized, or nothing was.
    UnusedMappingWarning, ConstantChannelWarning
        As for :func:`~pyqref.quantization.convert`.

    Raises
    ------
    ValueError
        There is no default qconfig for ``dtype``.

    Notes
    -----
    Source: ``torch.quantization.quantize_dynamic``.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.nn.Sequential(pyqref.nn.Linear(2, 2), pyqref.nn.ReLU())
    >>> quantized = quantize_dynamic(model, {pyqref.nn.Linear}, dtype=pyqref.qint8)
    >>> type(quantized[0])
    <class 'pyqref.nn.quantized.dynamic.modules.linear.Linear'>
    """
    require_module("quantize_dynamic", model)
    defaults = get_default_dynamic_quant_module_mappings()
    table = defaults if mapping is None else mapping
    require_mapping("quantize_dynamic", "mapping", table)
    spec = _qconfigs(qconfig_spec, dtype)
    if not inplace:
        model = copy.deepcopy(model)
    with strictly(strict):
        _warn_of_spec(model, qconfig_spec, spec, table)
        if qconfig_spec is None:
            present = {type(each) for each in model.modules()}
            spec = {each: qconfig for each, qconfig in spec.items() if each in present}
        require_qconfigs("quantize_dynamic", model)
        warn_of_root("quantize_dynamic", model, table, planned_qconfigs(model, spec)[""])
        model.eval()
        propagate_qconfig_(model, spec)
        convert_with("quantize_dynamic", model, table, defaults, kind="dynamic")
    clean(model)
    return model


def _qconfigs(spec: Any, dtype: Dtype) -> dict[Any, Any]:
    """The dictionary that ``qconfig_spec`` and ``dtype`` stand for."""
    if isinstance(spec, Mapping):
        for key, qconfig in spec.items():
            require_entry("qconfig_spec", key, qconfig)
        return dict(spec)
    if dtype not in _DEFAULTS:
        raise ValueError(
            "quantize_dynamic: dtype must be qint8 or float16, or quint8 or quint4x2 for "
            f"embeddings, got {dtype!r}; for another, pass qconfig_spec as a dictionary with "
            "qconfigs"
        )
    if isinstance(spec, str | type) or not (spec is None or isinstance(spec, Iterable)):
        raise TypeError(
            "quantize_dynamic: qconfig_spec must be a set or a dictionary, "
            f"got {described(spec)}; write {_as_set(spec)}"
        )
    qconfig, types = _DEFAULTS[dtype]
    entries = list(types if spec is None else spec)
    for entry in entries:
        if not isinstance(entry, str | type):
            raise TypeError(
                "quantize_dynamic: qconfig_spec must hold names and types of submodules, "
                f"got {entry!r}"
            )
    return dict.fromkeys(entries, qconfig)


def _as_set(spec: Any) -> str:
    """Write a single name or type as a set."""
    if isinstance(spec, str):
        return f"{{{spec!r}}}"
    name = spec.__name__ if isinstance(spec, type) else "Linear"
    return f"{{nn.{name}}}" if hasattr(nn, name) else f"{{{name}}}"


def _warn_of_spec(
    model: Any, given: Any, spec: Mapping[Any, Any], table: Mapping[Any, Any]
) -> None:
    """Warn, before anything is changed, of what will not be quantized."""
    if given is not None:
        _warn_of_unquantizable(model, spec, table)
    modules = dict(model.named_modules())
    wanted = any(
        type(below) in table
        and (qconfig is not None or getattr(below, "qconfig", None) is not None)
        for key, qconfig in spec.items()
        for path, each in modules.items()
        if key == path or type(each) is key
        for below in each.modules()
    )
    if not wanted and all(getattr(each, "qconfig", None) is None for each in modules.values()):
        known = ", ".join(sorted({each.__name__ for each in table}))
        warn(
            f"quantize_dynamic: nothing was quantized; submodules of these types can be: {known}",
            NotQuantizedWarning,
        )


def _warn_of_unquantizable(model: Any, spec: Mapping[Any, Any], table: Mapping[Any, Any]) -> None:
    """Warn of entries that fit only modules without any part that can be quantized."""
    for key, qconfig in spec.items():
        if qconfig is None or not isinstance(key, str | type):
            continue
        matched = {
            path: each for path, each in model.named_modules() if key == path or type(each) is key
        }
        quantizable = any(
            type(below) in table for each in matched.values() for below in each.modules()
        )
        if matched and not quantizable:
            places = ", ".join(
                f"{path or 'the model'} ({type(each).__name__})" for path, each in matched.items()
            )
            known = ", ".join(sorted({each.__name__ for each in table}))
            warn(
                f"quantize_dynamic cannot quantize {places}: left as it is; types that can be "
                f"quantized: {known}",
                NotQuantizedWarning,
            )
