"""``quantize_dynamic``: weights ahead of time, inputs while running."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import float16, qint8
from pyqref.nn import modules as nn
from pyqref.quantization.qconfig.defaults import default_dynamic_qconfig, float16_dynamic_qconfig
from pyqref.quantization.quantization_mappings import get_default_dynamic_quant_module_mappings

from .convert import convert
from .paths import require_module
from .propagate import propagate_qconfig_

__all__ = ["quantize_dynamic"]

_DEFAULT_TYPES = (nn.Linear, nn.LSTM, nn.GRU, nn.LSTMCell, nn.RNNCell, nn.GRUCell)
_QCONFIGS = {qint8: default_dynamic_qconfig, float16: float16_dynamic_qconfig}


def quantize_dynamic(
    model: Any,
    qconfig_spec: Mapping[Any, Any] | Iterable[Any] | None = None,
    dtype: Dtype = qint8,
    mapping: Mapping[Any, Any] | None = None,
    inplace: bool = False,
) -> Any:
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
        ``qint8`` or ``float16``, of the weights; not looked at where ``qconfig_spec`` has
        qconfigs.
    mapping
        From float types to dynamically quantized types; the default table if None.
    inplace
        Change the model itself.

    Returns
    -------
    Module
        The quantized model, in evaluation mode.

    Warns
    -----
    UserWarning
        Something asked for fits no submodule or cannot be quantized, or nothing was.

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
    table = get_default_dynamic_quant_module_mappings() if mapping is None else mapping
    spec = _qconfigs(qconfig_spec, dtype)
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()
    if qconfig_spec is None:
        present = {type(each) for each in model.modules()}
        spec = {each: qconfig for each, qconfig in spec.items() if each in present}
    else:
        _warn_of_unquantizable(model, spec, table)
    propagate_qconfig_(model, spec)
    if not any(
        type(each) in table and getattr(each, "qconfig", None) is not None
        for each in model.modules()
    ):
        known = ", ".join(sorted({each.__name__ for each in table}))
        warnings.warn(
            f"quantize_dynamic: nothing was quantized; submodules of these types can be: {known}",
            stacklevel=2,
        )
    return convert(model, table, inplace=True)


def _qconfigs(spec: Any, dtype: Dtype) -> dict[Any, Any]:
    """The dictionary that ``qconfig_spec`` and ``dtype`` stand for."""
    if isinstance(spec, Mapping):
        return dict(spec)
    if dtype not in _QCONFIGS:
        raise ValueError(
            f"quantize_dynamic: dtype must be qint8 or float16, got {dtype!r}; for another, pass "
            "qconfig_spec as a dictionary with qconfigs"
        )
    if isinstance(spec, str | type):
        raise TypeError(
            f"quantize_dynamic: qconfig_spec must be a set or a dictionary, got {spec!r}; "
            "write {nn.Linear}"
        )
    return dict.fromkeys(_DEFAULT_TYPES if spec is None else spec, _QCONFIGS[dtype])


def _warn_of_unquantizable(model: Any, spec: Mapping[Any, Any], table: Mapping[Any, Any]) -> None:
    """Warn of entries that fit modules of which none, nor any below them, can be quantized."""
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
            warnings.warn(
                f"quantize_dynamic cannot quantize {places}: left as it is; types that can be "
                f"quantized: {known}",
                stacklevel=3,
            )
