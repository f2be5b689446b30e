"""``prepare`` and ``prepare_qat``: from a float model to one that observes itself."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from typing import Any

from pyqref._typing import Model, Module
from pyqref.quantization.diagnostics import (
    NotQuantizedWarning,
    UnusedMappingWarning,
    strictly,
    warn,
)
from pyqref.quantization.quantization_mappings import get_default_qat_module_mappings
from pyqref.quantization.unused_overrides import warn_of_unused_overrides

from .convert import convert_with
from .custom_modules import CUSTOM_TABLES, FLOAT_TO_OBSERVED, types_in
from .observe import add_observer_
from .paths import custom_config, require_mapping, require_module
from .propagate import planned_qconfigs, propagate_qconfig_, require_qconfigs
from .steps import warn_of_observers_in_training, warn_of_root, warn_of_training_mode
from .thrown_away import warn_of_thrown_away_copy

__all__ = ["fake_quantize_", "observe_", "prepare", "prepare_qat"]

_CUSTOM = CUSTOM_TABLES[0]
_KNOWN = (*CUSTOM_TABLES, "non_traceable_module_name", "non_traceable_module_class")


def prepare(
    model: Model,
    qconfig_dict: Mapping[Any, Any] | bool | None = None,
    inplace: Any = False,
    allow_list: Collection[type] | None = None,
    observer_non_leaf_module_list: Collection[type] | None = None,
    prepare_custom_config_dict: Mapping[str, Any] | None = None,
    strict: bool = False,
) -> Model:
    """Prepare a copy of the model for calibration.

    The qconfigs are spread over the model (:func:`propagate_qconfig_`) and observers put
    behind its layers (:func:`add_observer_`).

    Parameters
    ----------
    model
        The float model; it is not changed unless ``inplace``.
    qconfig_dict
        From names or types of submodules to qconfigs, where they are not assigned as
        ``qconfig`` attributes. In torch 2.13 ``inplace`` stands at this place: a bool here
        is taken as that, and the arguments after it as those that follow in torch 2.13.
    inplace
        Change the model itself.
    allow_list
        Types of leaf modules that get observers.
    observer_non_leaf_module_list
        Types of modules with submodules that are observed as one.
    prepare_custom_config_dict
        ``{"float_to_observed_custom_module_class": {Float: Observed}}`` (None: the
        quantizable layers of :func:`get_default_custom_config_dict`) and the entries of
        :func:`propagate_qconfig_`. The table that ``convert`` reads may stand beside them.
    strict
        Raise :class:`~pyqref.quantization.QuantizationError` in place of each warning.

    Returns
    -------
    Module
        The prepared model. Run it on calibration data, then call :func:`convert`.

    Warns
    -----
    NoMatchWarning
        A key of ``qconfig_dict`` fits no module.
    NotQuantizedWarning
        No module got a qconfig.
    UnusedMappingWarning
        An entry of the user's own in ``prepare_custom_config_dict`` was not used.
    WrongModeWarning
        A batch norm or a dropout is in training mode.

    Notes
    -----
    Source: ``torch.quantization.prepare``.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.quantization.QuantWrapper(pyqref.nn.Linear(2, 2)).eval()
    >>> model.qconfig = pyqref.quantization.default_qconfig
    >>> prepared = pyqref.quantization.prepare(model)
    >>> _ = prepared(pyqref.tensor([[0.0, 127.0]]))
    >>> prepared.quant.activation_post_process
    MinMaxObserver(min_val=0.0, max_val=127.0)
    """
    if isinstance(qconfig_dict, bool):
        # torch 2.13: (model, inplace, allow_list, observer_non_leaf_module_list, custom)
        if not isinstance(inplace, bool):
            observer_non_leaf_module_list = observer_non_leaf_module_list or allow_list
            allow_list = inplace
        qconfig_dict, inplace = None, qconfig_dict
    require_module("prepare", model)
    custom = custom_config("prepare_custom_config_dict", prepare_custom_config_dict, _KNOWN)
    require_qconfigs("prepare", model)
    with strictly(strict):
        warn_of_thrown_away_copy("prepare", model)
    if not inplace:
        model = copy.deepcopy(model)
    with strictly(strict):
        warn_of_training_mode("prepare", model)
        observe_(
            model,
            qconfig_dict,
            allow_list,
            observer_non_leaf_module_list,
            None if prepare_custom_config_dict is None else custom,
        )
    return model


def observe_(
    model: Module,
    qconfig_dict: Mapping[Any, Any] | None = None,
    allow_list: Collection[type] | None = None,
    groups: Collection[type] | None = None,
    custom: Mapping[str, Any] | None = None,
) -> None:
    """Spread the qconfigs over a model and put observers behind its layers, in place."""
    if custom is None:
        custom = {_CUSTOM: types_in(model, FLOAT_TO_OBSERVED)}
    mapping = custom.get(_CUSTOM, {})
    require_mapping("prepare", _CUSTOM, mapping)
    present = {type(each) for each in model.modules()}
    for kind, observed in mapping.items():
        if kind not in present and FLOAT_TO_OBSERVED.get(kind) is not observed:
            warn(
                f"prepare: the entry for {getattr(kind, '__qualname__', kind)} in {_CUSTOM} was "
                "not used: the model has none; leave it out",
                UnusedMappingWarning,
            )
    propagate_qconfig_(model, qconfig_dict, custom)
    if all(getattr(each, "qconfig", None) is None for each in model.modules()):
        warn(
            "prepare: no module got a qconfig, so nothing will be observed or quantized; "
            "assign model.qconfig = get_default_qconfig('x86'), for example, or pass qconfig_dict",
            NotQuantizedWarning,
        )
    add_observer_(model, allow_list, groups, custom_module_class_mapping=mapping)


def prepare_qat(
    model: Model,
    mapping: Mapping[Any, Any] | None = None,
    inplace: bool = False,
    strict: bool = False,
) -> Model:
    """Prepare a copy of the model for quantization-aware training.

    Layers are swapped for those that fake-quantize their weight, and fake quantizers put
    behind them.

    Parameters
    ----------
    model
        The float model, in training mode, with ``qconfig`` attributes.
    mapping
        From float types to types for training; the default table if None.
    inplace
        Change the model itself.
    strict
        Raise :class:`~pyqref.quantization.QuantizationError` in place of each warning.

    Returns
    -------
    Module
        The prepared model. Train it, then call :func:`convert`.

    Raises
    ------
    ValueError
        The model is in evaluation mode.

    Warns
    -----
    NoEffectWarning
        A qconfig has a fused fake quantizer, and an observer with a ``calculate_qparams`` of its
        own, which training does not use.
    QConfigMismatchWarning
        The qconfig of a layer makes observers where fake quantizers are needed.
    NotQuantizedWarning
        No module got a qconfig, or the model is itself a layer that should be swapped.
    UnusedMappingWarning
        No module was swapped by an entry of the user's own in ``mapping``.

    Notes
    -----
    Source: ``torch.quantization.prepare_qat``.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.nn.Sequential(pyqref.nn.Linear(2, 2)).train()
    >>> model.qconfig = pyqref.quantization.default_qat_qconfig
    >>> type(pyqref.quantization.prepare_qat(model)[0])
    <class 'pyqref.nn.qat.modules.linear.Linear'>
    """
    require_module("prepare_qat", model)
    if not model.training:
        raise ValueError(
            "prepare_qat works on models in training mode: call model.train() first, "
            "or use prepare to calibrate without training"
        )
    defaults = get_default_qat_module_mappings()
    table = defaults if mapping is None else mapping
    require_mapping("prepare_qat", "mapping", table)
    require_qconfigs("prepare_qat", model)
    with strictly(strict):
        warn_of_thrown_away_copy("prepare_qat", model)
    if not inplace:
        model = copy.deepcopy(model)
    with strictly(strict):
        plan = planned_qconfigs(model)
        warn_of_root("prepare_qat", model, table, plan[""])
        warn_of_observers_in_training(model, plan, table)
        fake_quantize_(model, table, defaults)
    return model


def fake_quantize_(model: Module, mapping: Mapping[Any, Any], defaults: Mapping[Any, Any]) -> None:
    """Swap the layers of a model for those that are trained, and observe them, in place."""
    own = ((path, getattr(each, "qconfig", None)) for path, each in model.named_modules())
    warn_of_unused_overrides("prepare_qat", own)
    propagate_qconfig_(model)
    convert_with("prepare_qat", model, mapping, defaults, kind="training")
    observe_(model, groups=set(mapping.values()))
