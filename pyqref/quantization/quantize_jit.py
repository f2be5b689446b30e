"""Dynamic quantization of scripted models, which are Python here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyqref.nn.modules import Linear
from pyqref.nn.modules.module import Module
from pyqref.tensor.arguments import described

from .eager.dynamic import quantize_dynamic

__all__ = ["quantize_dynamic_jit"]


def quantize_dynamic_jit(
    model: Module, qconfig_dict: Mapping[str, Any], inplace: bool = False, debug: bool = False
) -> Module:
    """Quantize the linear layers of a scripted or traced model; their inputs while running.

    A scripted model of pyqref is a copy that runs as Python, so this is
    :func:`~pyqref.quantization.quantize_dynamic` of the layers that ``qconfig_dict`` names.

    Parameters
    ----------
    model
        From ``jit.script`` or ``jit.trace``, or any model.
    qconfig_dict
        For paths of submodules, a qconfig for all linear layers in them, or None for none; ``""``
        stands for the whole model. The longest path that fits a layer decides.
    inplace
        Change the model itself.
    debug
        torch leaves the weights in a form to look at; here they always are in one.

    Returns
    -------
    Module
        The quantized model, in evaluation mode.

    Raises
    ------
    TypeError
        ``model`` is no Module, or ``qconfig_dict`` no dictionary of paths.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.quantization import per_channel_dynamic_qconfig, quantize_dynamic_jit
    >>> model = pyqref.jit.script(pyqref.nn.Sequential(pyqref.nn.Linear(4, 2)))
    >>> quantized = quantize_dynamic_jit(model, {"": per_channel_dynamic_qconfig})
    >>> type(quantized[0])
    <class 'pyqref.nn.quantized.dynamic.modules.linear.Linear'>
    """
    if not isinstance(model, Module):
        raise TypeError(f"quantize_dynamic_jit: model must be a Module, got {described(model)}")
    if not isinstance(qconfig_dict, Mapping) or not all(
        isinstance(path, str) for path in qconfig_dict
    ):
        raise TypeError(
            "quantize_dynamic_jit: qconfig_dict must be a dictionary of paths of submodules and "
            f"qconfigs, such as {{'': qconfig}}, got {qconfig_dict!r}"
        )
    modules = dict(model.named_modules())
    # Paths that the model does not have stay, and are warned of.
    spec: dict[Any, Any] = {
        path: qconfig for path, qconfig in qconfig_dict.items() if path not in modules
    }
    for name, module in modules.items():
        if type(module) is Linear:
            fits = [path for path in qconfig_dict if _is_under(name, path)]
            if fits:
                spec[name] = qconfig_dict[max(fits, key=len)]
    return quantize_dynamic(model, spec, inplace=inplace)


def _is_under(name: str, path: str) -> bool:
    return not path or name == path or name.startswith(f"{path}.")
