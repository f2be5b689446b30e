"""Putting observers behind the modules of a model, and taking them away."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pyqref._typing import AnyModule, Device, Module, Tensor
from pyqref.devices import require_cpu
from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.nn.modules import Dropout, Identity, Sequential
from pyqref.nn.quantizable import LSTM, MultiheadAttention
from pyqref.nn.quantized.modules.functional_modules import FloatFunctional, QFunctional
from pyqref.nn.quantized.modules.reuse import used_before_in_this_pass, warn_of_shared_observer
from pyqref.quantization.observer.uniform import UniformQuantizationObserverBase
from pyqref.quantization.quantization_mappings import (
    DEFAULT_MODULE_TO_ACT_POST_PROCESS,
    get_default_qconfig_propagation_list,
)
from pyqref.quantization.stubs import DeQuantStub

from .paths import is_leaf, require_mapping, require_module

__all__ = ["add_observer_", "get_observer_dict", "remove_observers", "remove_qconfig"]

NAME = "activation_post_process"
_SAW_TRAINING = "_saw_training"
_WATCHED = "_passes_watched"
#: Looking for a second use costs more than observing a small tensor; so many passes tell.
_ENOUGH = 4


def observe_output(module: AnyModule, args: Sequence[Tensor], output: Tensor) -> Tensor:
    """Forward hook: show a module's output to its observer."""
    observer = module.activation_post_process
    own = observer.__dict__
    if module.training:
        own[_SAW_TRAINING] = True
    if own.get(_WATCHED, 0) < _ENOUGH:
        if finds_a_range(observer) and used_before_in_this_pass(module):
            warn_of_shared_observer(module)
        else:
            own[_WATCHED] = own.get(_WATCHED, 0) + 1
    return observer(output)


def observe_input(module: AnyModule, args: tuple[Any, ...]) -> Tensor:
    """Forward pre-hook: show a module's input to its observer."""
    return module.activation_post_process(args[0])


def saw_training(module: Module) -> bool:
    """Return True if a module is an observer that saw data while its layer was training."""
    return _SAW_TRAINING in module.__dict__


def add_observer_(
    module: AnyModule,
    qconfig_propagation_list: Collection[type] | None = None,
    non_leaf_module_list: Collection[type] | None = None,
    device: Device = None,
    custom_module_class_mapping: Mapping[type, type] | None = None,
) -> None:
    """Put an observer behind every leaf module that has a qconfig, in place.

    The observer becomes the submodule ``activation_post_process`` and is shown the
    module's output by a forward hook. Groups made by fusion get one observer for the
    group.

    Parameters
    ----------
    module
        A model whose modules have a ``qconfig``.
    qconfig_propagation_list
        Types of leaf modules to observe; by default those that can be quantized.
    non_leaf_module_list
        Types of modules with submodules to observe as one.
    device
        Must be the CPU.
    custom_module_class_mapping
        From float module types to types whose ``from_float`` makes an observed module.

    Notes
    -----
    In training mode sigmoid, tanh, hardsigmoid and softmax get their fixed parameters, as
    in torch. Source: ``torch.quantization.add_observer_``.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.nn.Sequential(pyqref.nn.Linear(1, 1), pyqref.nn.ReLU())
    >>> model.qconfig = pyqref.quantization.default_qconfig
    >>> pyqref.quantization.propagate_qconfig_(model)
    >>> add_observer_(model)
    >>> [path for path, _ in model.named_modules()]
    ['', '0', '0.activation_post_process', '1']
    """
    require_module("add_observer_", module)
    require_cpu(device or "cpu", "add_observer_: ")
    custom = custom_module_class_mapping or {}
    require_mapping("add_observer_", "custom_module_class_mapping", custom)
    for name, types in (
        ("qconfig_propagation_list", qconfig_propagation_list),
        ("non_leaf_module_list", non_leaf_module_list),
    ):
        if types is not None and not isinstance(types, Collection):
            raise TypeError(f"{name} must be a collection of module types, got {types!r}")
    allowed = (
        get_default_qconfig_propagation_list()
        if qconfig_propagation_list is None
        else qconfig_propagation_list
    )
    groups = non_leaf_module_list or ()
    for name, child in list(module.named_children()):
        if type(child) is Dropout:
            continue
        if isinstance(child, FloatFunctional | QFunctional):
            if _wants_observer(child):
                wanted: Any = child.qconfig
                child.activation_post_process = wanted.activation()
        elif isinstance(child, _FusedModule) or type(child) in groups:
            _insert(child)
        elif child.training and type(child) in DEFAULT_MODULE_TO_ACT_POST_PROCESS:
            _insert(child, DEFAULT_MODULE_TO_ACT_POST_PROCESS[type(child)])
        elif _wants_observer(child) and type(child) in custom:
            observed = _observed_form(custom[type(child)], child)
            if not hasattr(observed, "qconfig"):
                observed.qconfig = child.qconfig
            setattr(module, name, observed)
            # The quantizable layers have observed their parts.
            if type(observed) not in (LSTM, MultiheadAttention):
                _insert(observed)
        else:
            add_observer_(child, allowed, groups, device, custom)
    if is_leaf(module) and not isinstance(module, Sequential) and type(module) in allowed:
        _insert(module)


def _observed_form(kind: Any, module: Any) -> Any:
    if not hasattr(kind, "from_float"):
        raise TypeError(
            f"custom_module_class_mapping: {getattr(kind, '__name__', kind)!r}, which stands for "
            f"{type(module).__name__}, must have a from_float"
        )
    return kind.from_float(module)


def _wants_observer(module: Any) -> bool:
    return getattr(module, "qconfig", None) is not None


def _insert(module: Any, recipe: Any = None) -> None:
    """Give one module an observer, made by ``recipe`` or by its qconfig."""
    if not _wants_observer(module) or isinstance(module, DeQuantStub):
        return
    activation = (recipe or module.qconfig.activation)()
    module.add_module(NAME, activation)
    # Prepared twice, or reached by two paths: observed once all the same.
    if _forgets(module.qconfig.activation()):
        # What is quantized at run time is the input, each tensor by itself.
        if observe_input not in module._forward_pre_hooks.values():
            module.register_forward_pre_hook(observe_input, prepend=True)
    elif observe_output not in module._forward_hooks.values():
        module.register_forward_hook(observe_output, prepend=True)


def finds_a_range(observer: Module) -> bool:
    """Return True if an observer finds one range for all the data that it sees."""
    observer = getattr(observer, NAME, observer)
    return (
        isinstance(observer, UniformQuantizationObserverBase)
        and not observer.is_dynamic
        and getattr(observer, "averaging_constant", None) != 1
    )


def _forgets(activation: Any) -> bool:
    """Return True if an observer keeps only the newest tensor."""
    observer = getattr(activation, NAME, activation)
    return getattr(observer, "averaging_constant", None) == 1


def remove_observers(module: Module) -> None:
    """Take the observers and their hooks out of a model, in place."""
    for each in module.modules():
        if not isinstance(each, FloatFunctional | QFunctional):
            if hasattr(each, NAME):
                delattr(each, NAME)
            for hooks, ours in (
                (each._forward_hooks, observe_output),
                (each._forward_pre_hooks, observe_input),
            ):
                for number in [n for n, hook in hooks.items() if hook is ours]:
                    del hooks[number]


def remove_qconfig(module: Module) -> None:
    """Take the qconfigs out of a model, in place."""
    for each in module.modules():
        if "qconfig" in each.__dict__:
            del each.qconfig


def get_observer_dict(mod: Module, target_dict: dict[str, Any], prefix: str = "") -> None:
    """Collect all observers of a model, for debugging.

    Parameters
    ----------
    mod
        A prepared model.
    target_dict
        Where the observers are put, by path.
    prefix
        Path of ``mod`` itself.

    Notes
    -----
    Source: ``torch.quantization.get_observer_dict``.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.nn.Sequential(pyqref.nn.Linear(1, 1))
    >>> model.qconfig = pyqref.quantization.default_qconfig
    >>> found = {}
    >>> get_observer_dict(pyqref.quantization.prepare(model), found)
    >>> found
    {'0.activation_post_process': MinMaxObserver(min_val=inf, max_val=-inf)}
    """
    require_module("get_observer_dict", mod)
    if not isinstance(target_dict, dict):
        raise TypeError(f"get_observer_dict: target_dict must be a dictionary, got {target_dict!r}")
    start = f"{prefix}." if prefix else ""
    if not isinstance(getattr(mod, NAME, Identity()), Identity):
        target_dict[start + NAME] = mod.activation_post_process
    for name, child in mod.named_children():
        if name != NAME:
            get_observer_dict(child, target_dict, start + name)
