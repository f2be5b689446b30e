"""``fuse_modules``: several layers in the place of one."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyqref._typing import Model
from pyqref.nn.modules import Identity
from pyqref.quantization.diagnostics import strictly
from pyqref.quantization.fuser_method_mappings import get_fuser_method

from .paths import custom_config, get_module, replace_module, require_module
from .steps import warn_of_late_fusion
from .thrown_away import remember_copy

__all__ = ["fuse_known_modules", "fuse_modules", "fuse_modules_qat"]

_CUSTOM = "additional_fuser_method_mapping"


def fuse_known_modules(
    mod_list: Sequence[Any],
    is_qat: bool = False,
    additional_fuser_method_mapping: Mapping[Any, Any] | None = None,
) -> list[Any]:
    """Fuse a list of layers if it is one of the known sequences.

    Parameters
    ----------
    mod_list
        The layers, in order.
    is_qat
        Whether for quantization-aware training.
    additional_fuser_method_mapping
        Sequences of a user's own.

    Returns
    -------
    list of Module
        As many: the fused module, which takes over the first layer's forward pre-hooks and
        the last one's forward hooks, and identities.

    Raises
    ------
    ValueError
        The sequence is not known.

    Examples
    --------
    >>> from pyqref import nn
    >>> [type(each).__name__ for each in fuse_known_modules([nn.Linear(1, 1), nn.ReLU()])]
    ['LinearReLU', 'Identity']
    """
    fuse = get_fuser_method(tuple(type(each) for each in mod_list), additional_fuser_method_mapping)
    first, last = mod_list[0], mod_list[-1]
    pre_hooks, hooks = dict(first._forward_pre_hooks), dict(last._forward_hooks)
    first._forward_pre_hooks.clear()
    last._forward_hooks.clear()
    try:
        fused = fuse(is_qat, *mod_list)
    except BaseException:
        first._forward_pre_hooks.update(pre_hooks)
        last._forward_hooks.update(hooks)
        raise
    fused.training = first.training
    for hook in pre_hooks.values():
        fused.register_forward_pre_hook(hook)
    for hook in hooks.values():
        fused.register_forward_hook(hook)
    return [fused, *(_identity(first.training) for _ in mod_list[1:])]


def _identity(training: bool) -> Identity:
    identity = Identity()
    identity.training = training
    return identity


def fuse_modules(
    model: Model,
    modules_to_fuse: Sequence[Any],
    inplace: bool = False,
    fuser_func: Callable[..., Any] = fuse_known_modules,
    fuse_custom_config_dict: Mapping[str, Any] | None = None,
    strict: bool = False,
) -> Model:
    """Fuse lists of layers of a model, for quantization after training.

    Known sequences: convolution and batch norm (and ReLU), convolution and ReLU, linear and
    ReLU, linear and batch norm, batch norm and ReLU, transposed convolution and batch norm.
    The first layer of each list is replaced by the fused one, the others by ``Identity``.

    Parameters
    ----------
    model
        The model, in evaluation mode where a batch norm is to be folded.
    modules_to_fuse
        A list of lists of paths, such as ``[["conv1", "bn1", "relu1"], ["fc", "relu2"]]``, or
        one list of paths.
    inplace
        Change the model itself; by default a copy is fused and returned.
    fuser_func
        Takes a list of layers and returns one of the same length, the fused layer first.
    fuse_custom_config_dict
        ``{"additional_fuser_method_mapping": {(Type, Type): function}}``.
    strict
        Raise :class:`~pyqref.quantization.QuantizationError` in place of each warning.

    Returns
    -------
    Module
        The model with fused layers.

    Raises
    ------
    ValueError
        A path leads nowhere, a list cannot be fused, or a batch norm is in training mode;
        the message has the paths and the types, and what can be fused. The model is then as
        it was.

    Notes
    -----
    The documentation leaves other sequences unchanged; here, as in torch 2.13, they are an
    error. Source: ``torch.quantization.fuse_modules``.

    Examples
    --------
    >>> from pyqref import nn
    >>> m = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()).eval()
    >>> fuse_modules(m, [["0", "1", "2"]])
    Sequential(
      (0): ConvReLU2d(
        (0): Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1))
        (1): ReLU()
      )
      (1): Identity()
      (2): Identity()
    )
    """
    return _fuse(
        model,
        modules_to_fuse,
        False,
        inplace,
        fuser_func,
        fuse_custom_config_dict,
        "fuse_modules",
        strict,
    )


def fuse_modules_qat(
    model: Model,
    modules_to_fuse: Sequence[Any],
    inplace: bool = False,
    fuser_func: Callable[..., Any] = fuse_known_modules,
    fuse_custom_config_dict: Mapping[str, Any] | None = None,
    strict: bool = False,
) -> Model:
    """Fuse lists of layers of a model, for quantization-aware training.

    As :func:`fuse_modules`, but a batch norm is kept, together with its convolution, so
    that its statistics go on being learned.

    The model is to be trained. In evaluation mode its layers are fused all the same, as in
    torch, and stay in that mode; :func:`prepare_qat` then asks for ``model.train()``.

    Parameters
    ----------
    model, modules_to_fuse, inplace, fuser_func, fuse_custom_config_dict, strict
        As in :func:`fuse_modules`.

    Returns
    -------
    Module
        The model with fused layers.

    Raises
    ------
    ValueError
        As in :func:`fuse_modules`.

    Examples
    --------
    >>> from pyqref import nn
    >>> m = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)).train()
    >>> type(fuse_modules_qat(m, ["0", "1"])[0]).__name__
    'ConvBn2d'
    """
    return _fuse(
        model,
        modules_to_fuse,
        True,
        inplace,
        fuser_func,
        fuse_custom_config_dict,
        "fuse_modules_qat",
        strict,
    )


def _fuse(
    model: Any,
    modules_to_fuse: Sequence[Any],
    is_qat: bool,
    inplace: bool,
    fuser_func: Callable[..., Any],
    custom: Mapping[str, Any] | None,
    name: str,
    strict: bool,
) -> Any:
    if isinstance(modules_to_fuse, str):
        raise TypeError(f"{name}: modules_to_fuse must be a list of paths, got {modules_to_fuse!r}")
    require_module(name, model)
    single = all(isinstance(each, str) for each in modules_to_fuse)
    lists = [list(modules_to_fuse)] if single else [list(each) for each in modules_to_fuse]
    additional = custom_config("fuse_custom_config_dict", custom, (_CUSTOM,)).get(_CUSTOM, {})
    places = {path: get_module(model, path) for paths in lists for path in paths}
    with strictly(strict):
        warn_of_late_fusion(name, places)
    given = model
    if not inplace:
        model = copy.deepcopy(model)
    replaced: list[tuple[str, Any]] = []
    try:
        for paths in lists:
            layers = [get_module(model, path) for path in paths]
            fused = _call(fuser_func, layers, is_qat, additional, paths, name)
            for path, old, new in zip(paths, layers, fused, strict=True):
                replaced.append((path, old))
                replace_module(model, path, new)
    except BaseException:
        for path, old in reversed(replaced):
            replace_module(model, path, old)
        raise
    if not inplace:
        remember_copy(given, model)
    return model


def _call(
    fuser_func: Callable[..., Any],
    layers: list[Any],
    is_qat: bool,
    additional: Mapping[Any, Any] | None,
    paths: Sequence[str],
    name: str,
) -> list[Any]:
    """Call a fuser with the arguments that it takes, and name the layers if it fails."""
    what = ", ".join(
        f"{path} ({type(layer).__name__})" for path, layer in zip(paths, layers, strict=True)
    )
    if not layers:
        raise ValueError(f"{name}: an empty list of modules cannot be fused")
    arguments: tuple[Any, ...] = (layers, is_qat, additional)
    named: dict[str, Any] = {}
    signature = inspect.signature(fuser_func)
    try:
        signature.bind(*arguments)
    except TypeError:
        # The documented form takes the list alone; others take some of the rest by name.
        takes_any = any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values())
        given = {"is_qat": is_qat, _CUSTOM: additional}
        named = {n: value for n, value in given.items() if takes_any or n in signature.parameters}
        arguments = (layers,)
    try:
        fused = list(fuser_func(*arguments, **named))
    except ValueError as error:
        raise ValueError(f"{name}: cannot fuse {what}: {error}") from None
    if len(fused) != len(layers):
        raise ValueError(
            f"{name}: fuser_func must return as many modules as it got, {len(layers)} for {what}, "
            f"got {len(fused)}"
        )
    return fused
