"""``convert``: from an observed model to a quantized one."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.quantization.fake_quantize.fake_quantize import FakeQuantize
from pyqref.quantization.observer.checks import UncalibratedWarning
from pyqref.quantization.observer.uniform import UniformQuantizationObserverBase
from pyqref.quantization.quantization_mappings import get_default_static_quant_module_mappings

from .observe import NAME, observe_input, observe_output, remove_observers, remove_qconfig
from .paths import custom_config, is_leaf, require_module

__all__ = ["convert", "swap_module"]

_CUSTOM = "observed_to_quantized_custom_module_class"


def convert(
    module: Any,
    mapping: Mapping[Any, Any] | None = None,
    inplace: bool = False,
    remove_qconfig: bool = True,
    is_reference: bool = False,
    convert_custom_config_dict: Mapping[str, Any] | None = None,
    use_precomputed_fake_quant: bool = False,
) -> Any:
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
        Must be False.
    convert_custom_config_dict
        ``{"observed_to_quantized_custom_module_class": {Observed: Quantized}}``; the
        latter has a ``from_observed``.
    use_precomputed_fake_quant
        Do not let the weights' fake quantizers look at the weights once more.

    Returns
    -------
    Module
        The quantized model.

    Warns
    -----
    UncalibratedWarning
        Observers never saw data: they are listed by module path.
    UserWarning
        The model itself is a layer that should be swapped: only submodules are.

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
    if is_reference:
        raise NotImplementedError("convert: is_reference=True is not supported; use False")
    table = get_default_static_quant_module_mappings() if mapping is None else mapping
    config = custom_config("convert_custom_config_dict", convert_custom_config_dict, (_CUSTOM,))
    custom = config.get(_CUSTOM, {})
    if not inplace:
        module = copy.deepcopy(module)
    _warn_of_root(module, table)
    silent = sorted(_never_ran(module, table))
    with warnings.catch_warnings():
        if silent:
            # One warning lists them all, in place of one from each.
            warnings.warn(
                "convert: these observers saw no data, so scale 1 and zero point 0 are used: "
                f"{', '.join(silent)}; run the prepared model on calibration data first, or set "
                "the qconfig of these modules to None",
                UncalibratedWarning,
                stacklevel=2,
            )
            warnings.simplefilter("ignore", UncalibratedWarning)
        _convert_children(module, table, custom, use_precomputed_fake_quant, "")
    if remove_qconfig:
        _clean(module)
    return module


def _clean(module: Any) -> None:
    remove_qconfig(module)
    remove_observers(module)


def _convert_children(
    module: Any,
    mapping: Mapping[Any, Any],
    custom: Mapping[Any, Any],
    precomputed: bool,
    above: str,
) -> None:
    for name, child in list(module.named_children()):
        path = f"{above}{name}"
        # Groups made by fusion and custom modules are swapped as one.
        if not isinstance(child, _FusedModule) and type(child) not in custom:
            _convert_children(child, mapping, custom, precomputed, f"{path}.")
        try:
            module._modules[name] = swap_module(child, mapping, custom, precomputed)
        except (RuntimeError, TypeError, ValueError) as error:
            message = f"convert: {path} ({type(child).__name__}): {error}"
            raise type(error)(message) from error


def swap_module(
    mod: Any,
    mapping: Mapping[Any, Any],
    custom_module_class_mapping: Mapping[Any, Any] | None = None,
    use_precomputed_fake_quant: bool = False,
) -> Any:
    """The quantized form of a module, or the module itself if there is none.

    Parameters
    ----------
    mod
        A module with an observer.
    mapping
        From types to quantized types.
    custom_module_class_mapping
        From observed to quantized custom types.
    use_precomputed_fake_quant
        As for :func:`convert`.

    Returns
    -------
    Module
        The user's hooks on ``mod`` are on it, too.

    Notes
    -----
    Source: ``torch.quantization.swap_module``.

    Examples
    --------
    >>> from pyqref import nn
    >>> layer = nn.ReLU()
    >>> swap_module(layer, {}) is layer
    True
    """
    if getattr(mod, "qconfig", None) is None:
        return mod
    custom = custom_module_class_mapping or {}
    if type(mod) in custom:
        new = custom[type(mod)].from_observed(mod)
    elif type(mod) in mapping:
        from_float = mapping[type(mod)].from_float
        # A class of the user's may have the one argument of the documentation only.
        options = {"use_precomputed_fake_quant": True} if use_precomputed_fake_quant else {}
        new = from_float(mod, **options)
    else:
        return mod
    for pre_hook in mod._forward_pre_hooks.values():
        if pre_hook is not observe_input:
            new.register_forward_pre_hook(pre_hook)
    for hook in mod._forward_hooks.values():
        if hook is not observe_output:
            new.register_forward_hook(hook)
    return new


def _never_ran(module: Any, mapping: Mapping[Any, Any]) -> Iterator[str]:
    """Paths of the observers that are needed but saw nothing."""
    for path, each in module.named_modules():
        if getattr(each, "qconfig", None) is None or type(each) not in mapping:
            continue
        observer = getattr(each, NAME, None)
        if isinstance(observer, FakeQuantize):
            observer = observer.activation_post_process
        if not isinstance(observer, UniformQuantizationObserverBase):
            continue
        low = getattr(observer, "min_val", None)
        if low is not None and (low.numel() == 0 or not low.isfinite().all().item()):
            yield f"{path}.{NAME}" if path else NAME


def _warn_of_root(module: Any, mapping: Mapping[Any, Any]) -> None:
    alone = is_leaf(module) or set(module._modules) == {NAME}
    if alone and type(module) in mapping and getattr(module, "qconfig", None) is not None:
        warnings.warn(
            "convert swaps the submodules of the model, not the model itself, and this one is "
            f"a {type(module).__name__} alone: put it into QuantWrapper or nn.Sequential",
            stacklevel=3,
        )
