"""``convert``: from an observed model to a quantized one."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from pyqref._typing import Model, Module
from pyqref.quantization.constant_activations import warn_of_constant_activations
from pyqref.quantization.constant_channels import warn_of_constant_channels
from pyqref.quantization.diagnostics import (
    QuantizationWarning,
    UncalibratedWarning,
    strictly,
    warn,
)
from pyqref.quantization.fake_quantize.fake_quantize import FakeQuantize
from pyqref.quantization.observer.uniform import UniformQuantizationObserverBase
from pyqref.quantization.quantization_mappings import (
    get_default_static_quant_module_mappings,
    get_default_static_quant_reference_module_mappings,
)

from .custom_modules import CUSTOM_TABLES, OBSERVED_TO_QUANTIZED
from .left_in_float import warn_of_layers_left_in_float
from .narrow_ranges import warn_of_narrow_swaps
from .observe import NAME, remove_observers, remove_qconfig
from .origins import remember
from .paths import custom_config, require_mapping, require_module
from .propagate import require_qconfigs
from .reasons import fates
from .steps import warn_of_root, warn_of_training_mode, warn_of_unprepared
from .swap import Swap, ran_unobserved, swap_children, swap_module, undo
from .swapped_weights import swapped_weights
from .unused import warn_of_unused_entries

__all__ = ["convert", "convert_with", "swap_module"]

_CUSTOM = CUSTOM_TABLES[1]


def convert(
    module: Model,
    mapping: Mapping[Any, Any] | None = None,
    inplace: bool = False,
    remove_qconfig: bool = True,
    is_reference: bool = False,
    convert_custom_config_dict: Mapping[str, Any] | None = None,
    use_precomputed_fake_quant: bool = False,
    strict: bool = False,
) -> Model:
    """Convert the observed layers of a model to quantized ones.

    Every submodule that has a qconfig and whose type is in ``mapping`` is swapped
    (:func:`swap_module`): its weight is quantized, and the parameters that its observer
    found become those of its output.

    Parameters
    ----------
    module
        The prepared and calibrated (or trained) model.
    mapping
        From types to quantized types, each with a ``from_float``; the default table if
        None.
    inplace
        Change the model itself.
    remove_qconfig
        Take qconfigs and observers out of the result.
    is_reference
        Convert to the reference layers of :mod:`pyqref.nn.quantized.reference`, in float.
    convert_custom_config_dict
        ``{"observed_to_quantized_custom_module_class": {Observed: Quantized}}``; the
        latter has a ``from_observed``. None: the quantizable layers of
        :func:`get_default_custom_config_dict`. The table that ``prepare`` reads may stand
        beside it.
    use_precomputed_fake_quant
        Do not let the weights' fake quantizers look at the weights once more.
    strict
        Raise :class:`~pyqref.quantization.QuantizationError` in place of each warning.

    Returns
    -------
    Module
        The quantized model. On an error a model converted in place is as it was.

    Warns
    -----
    UncalibratedWarning
        Observers never saw data: they are listed by module path.
    NotPreparedWarning
        The model, or a part of it that has a qconfig, was not prepared.
    NotQuantizedWarning
        The model itself is a layer that should be swapped: only submodules are. Or a layer
        with weights and a qconfig has no quantized form.
    WrongModeWarning
        The model was calibrated in training mode.
    UnusedMappingWarning
        No module was swapped by an entry of the user's own in ``mapping`` or in
        ``convert_custom_config_dict``.
    ConstantChannelWarning
        A weight, or a channel of one, has a single value that its scale cannot hold.
    NarrowRangeWarning
        An activation was observed for fewer integers than the converted operation gives.

    Notes
    -----
    Source: ``torch.quantization.convert``.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.quantization.QuantWrapper(pyqref.nn.Linear(2, 2)).eval()
    >>> model.qconfig = pyqref.quantization.default_qconfig
    >>> prepared = pyqref.quantization.prepare(model)
    >>> _ = prepared(pyqref.tensor([[0.0, 127.0]]))
    >>> pyqref.quantization.convert(prepared).quant
    Quantize(scale=tensor([1.]), zero_point=tensor([0]), dtype=pyqref.quint8)
    """
    require_module("convert", module)
    config = custom_config("convert_custom_config_dict", convert_custom_config_dict, CUSTOM_TABLES)
    custom = config.get(_CUSTOM, {})
    if convert_custom_config_dict is None:
        custom = OBSERVED_TO_QUANTIZED
    defaults = (
        get_default_static_quant_reference_module_mappings()
        if is_reference
        else get_default_static_quant_module_mappings()
    )
    table = defaults if mapping is None else mapping
    require_mapping("convert", "mapping", table)
    require_mapping("convert", _CUSTOM, custom)
    require_qconfigs("convert", module)
    if not inplace:
        module = copy.deepcopy(module)
    with strictly(strict):
        warn_of_root("convert", module, table, getattr(module, "qconfig", None))
        warn_of_unprepared(module, table)
        warn_of_training_mode("convert", module)
        convert_with(
            "convert",
            module,
            table,
            defaults,
            custom=custom,
            precomputed=use_precomputed_fake_quant,
        )
    if remove_qconfig:
        clean(module)
    return module


def clean(module: Module) -> None:
    """Take qconfigs and observers out of a model, in place."""
    remove_qconfig(module)
    remove_observers(module)


def convert_with(
    asks: str,
    module: Module,
    mapping: Mapping[Any, Any],
    defaults: Mapping[Any, Any],
    *,
    custom: Mapping[Any, Any] | None = None,
    precomputed: bool = False,
    kind: str = "static",
) -> None:
    """Swap the submodules of a model in place, and say what deserves a warning.

    Parameters
    ----------
    asks
        Who asks, for messages.
    module
        The prepared model.
    mapping
        From types to quantized types.
    defaults
        The default table, of whose entries not every one is used.
    custom
        From observed to quantized custom types.
    precomputed
        As ``use_precomputed_fake_quant`` of :func:`convert`.
    kind
        ``"static"``, ``"dynamic"`` or ``"training"``: which table it is.
    """
    custom = custom or {}
    silent = [] if kind == "training" else sorted(_never_ran(module, mapping))
    constant = [] if kind == "training" else list(_observed(module, mapping))
    swaps: list[Swap] = []
    try:
        with warnings.catch_warnings():
            if silent:
                # One warning lists them all, in place of one from each.
                warn(
                    f"{asks}: these observers saw no data, so scale 1 and zero point 0 are used: "
                    f"{', '.join(silent)}; run the prepared model on calibration data first, or "
                    "set the qconfig of these modules to None",
                    UncalibratedWarning,
                )
                warnings.simplefilter("ignore", UncalibratedWarning)
            origins = fates(module, mapping, custom, kind)
            swaps = swap_children(asks, module, mapping, custom, precomputed)
        used = {type(each.old) for each in swaps}
        warn_of_unused_entries(asks, "mapping", module, mapping, defaults, used)
        warn_of_unused_entries(asks, _CUSTOM, module, custom, OBSERVED_TO_QUANTIZED, used)
        warn_of_constant_channels(asks, swapped_weights(swaps))
        warn_of_constant_activations(asks, constant)
        warn_of_narrow_swaps(asks, swaps)
        if kind != "training":
            warn_of_layers_left_in_float(asks, module, {**mapping, **custom}, defaults, kind)
    except QuantizationWarning:
        undo(swaps)
        raise
    remember(module, origins)


def _observed(module: Any, mapping: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Paths of the observers whose ranges are needed, and these."""
    for path, each in module.named_modules():
        if getattr(each, "qconfig", None) is None or type(each) not in mapping:
            continue
        if getattr(mapping[type(each)], "_IS_REFERENCE", False):  # float outputs need no range
            continue
        if ran_unobserved(each):
            continue
        yield f"{path}.{NAME}" if path else NAME, getattr(each, NAME, None)


def _never_ran(module: Any, mapping: Mapping[Any, Any]) -> Iterator[str]:
    """Paths of the observers that are needed but saw nothing."""
    for path, observer in _observed(module, mapping):
        if isinstance(observer, FakeQuantize):
            observer = observer.activation_post_process
        if not isinstance(observer, UniformQuantizationObserverBase):
            continue
        low = getattr(observer, "min_val", None)
        if low is not None and (low.numel() == 0 or not low.isfinite().all().item()):
            yield path
