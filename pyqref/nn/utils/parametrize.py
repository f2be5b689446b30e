"""Parameters that a function computes from others.

A parametrized ``weight`` is a property of a class made for this module; the parameter itself, and
the functions, are in ``module.parametrizations.weight``.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ..._typing import AnyModule, Tensor
from ...tape import no_grad
from ...tensor.base import TensorBase
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_depth = 0
_cache: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Compute every parametrized tensor once only, until the end of the block.

    Examples
    --------
    >>> import pyqref
    >>> layer = register_parametrization(pyqref.nn.Linear(1, 1), "weight", pyqref.nn.Identity())
    >>> with cached():
    ...     layer.weight is layer.weight
    True
    """
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The functions that give a tensor, the first of them first, and what they begin with.

    Parameters
    ----------
    modules
        The functions.
    original
        The tensor as it was. If every function has a ``right_inverse``, the values are turned
        back with it, from the last to the first.
    unsafe
        Do not check that shape and dtype stay.

    Attributes
    ----------
    original : Parameter
        What the first function takes; ``original0``, ``original1``, ... if it takes several.
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        self.is_tensor = True
        self.ntensors = 1
        shape, dtype = tuple(original.shape), original.dtype
        value: Any = original
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    # One that says that it has none is as one without.
                    with suppress(NotImplementedError):
                        value = module.right_inverse(value)
        if _is_tensor(value):
            if value.dtype != dtype and not unsafe:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype: "
                    f"{dtype} became {value.dtype}; pass unsafe=True"
                )
            with no_grad():
                if value is not original:
                    original.data = value.detach()
            _register(self, "original", original)
        elif isinstance(value, Sequence):
            self.is_tensor, self.ntensors = False, len(value)
            for number, each in enumerate(value):
                if not _is_tensor(each):
                    raise ValueError(
                        "'right_inverse' must return tensors or a sequence of them, got "
                        f"{type(each).__name__} at {number}"
                    )
                kept = Parameter(each) if isinstance(original, Parameter) else each
                if isinstance(kept, Parameter):
                    kept.requires_grad_(original.requires_grad)
                _register(self, f"original{number}", kept)
        else:
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(value).__name__}"
            )
        if not unsafe:
            found = self()
            if not _is_tensor(found):
                raise ValueError(
                    f"A parametrization must return a tensor. Got {type(found).__name__}"
                )
            if found.dtype != dtype or tuple(found.shape) != shape:
                raise ValueError(
                    "Registering a parametrization may not change the dtype or the shape of the "
                    f"tensor, unless the `unsafe` flag is enabled: {dtype} {shape} became "
                    f"{found.dtype} {tuple(found.shape)}"
                )

    def _originals(self) -> list[Any]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{number}") for number in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Let the tensor have this value: turn it back and keep the result."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement "
                        "right_inverse; assign to `parametrizations.<name>.original` instead"
                    )
                value = module.right_inverse(value)
            values = [value] if self.is_tensor else list(value)
            if len(values) != self.ntensors:
                raise ValueError(
                    f"'right_inverse' must return {self.ntensors} tensors, got {len(values)}"
                )
            for kept, each in zip(self._originals(), values, strict=True):
                if kept.dtype == each.dtype and tuple(kept.shape) == tuple(each.shape):
                    kept.copy_(each)
                else:
                    kept.data = each.detach()

    def forward(self) -> Tensor:
        """The tensor."""
        modules = list(self)
        value = modules[0](*self._originals())
        for module in modules[1:]:
            value = module(value)
        return value


def _is_tensor(value: Any) -> bool:
    return isinstance(value, TensorBase)


def _register(module: AnyModule, name: str, value: Any) -> None:
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


def _own_class(module: Any) -> None:
    """Give a module a class of its own, which properties can be added to."""
    cls = type(module)

    def refuse(self: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(): save "
            "that, or call remove_parametrizations() first"
        )

    module.__class__ = type(
        f"Parametrized{cls.__name__}",
        (cls,),
        {"__getstate__": refuse, "__deepcopy__": _deep_copy, "__module__": cls.__module__},
    )


def _deep_copy(module: Any, memo: dict[int, Any]) -> Any:
    """A copy with a class of its own: properties of the two may differ later."""
    if id(module) in memo:
        return memo[id(module)]
    cls = type(module)
    names = {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__")}
    copied: Any = object.__new__(type(cls.__name__, cls.__bases__, names))
    memo[id(module)] = copied
    copied.__dict__.update(copy.deepcopy(module.__dict__, memo))
    return copied


def _property(module: Any, name: str) -> None:
    def get(self: Any) -> Any:
        if not _depth:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def put(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, put))


def _chains(module: AnyModule) -> Any:
    return module.parametrizations


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Let a module compute a parameter or buffer: ``weight = parametrization(original)``.

    Parameters
    ----------
    module
        Whose tensor it is; the same is returned.
    tensor_name
        Of the parameter or buffer. It may be parametrized already; then one more follows.
    parametrization
        A module. With a ``right_inverse``, the tensor can be assigned to.
    unsafe
        Do not check that shape and dtype stay.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> class Symmetric(nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
    >>> pyqref.equal(layer.weight, layer.weight.T)
    True
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'parametrizations.weight.original']
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        chain = _chains(module)[tensor_name]
        if not unsafe:
            before = getattr(module, tensor_name)
            after = parametrization(before)
            if not _is_tensor(after):
                raise ValueError(
                    f"A parametrization must return a tensor. Got {type(after).__name__}"
                )
            if (after.dtype, tuple(after.shape)) != (before.dtype, tuple(before.shape)):
                raise ValueError(
                    "Registering a parametrization may not change the dtype or the shape of the "
                    f"tensor, unless the `unsafe` flag is enabled: {before.dtype} "
                    f"{tuple(before.shape)} became {after.dtype} {tuple(after.shape)}"
                )
        chain.append(parametrization)
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(
            f"Module '{type(module).__name__}' does not have a parameter, a buffer, or a "
            f"parametrized element with name '{tensor_name}'"
        )
    original = getattr(module, tensor_name)
    chain = ParametrizationList([parametrization], original, unsafe=unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _own_class(module)
        module.parametrizations = ModuleDict()
    _property(module, tensor_name)
    _chains(module)[tensor_name] = chain
    return module


def is_parametrized(module: AnyModule, tensor_name: str | None = None) -> bool:
    """Return True if a module has a parametrized tensor, or this one.

    Examples
    --------
    >>> import pyqref
    >>> is_parametrized(pyqref.nn.Linear(1, 1))
    False
    """
    found = getattr(module, "_modules", {}).get("parametrizations")
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Let a tensor be a plain parameter or buffer again.

    Parameters
    ----------
    module
        Whose tensor it is; the same is returned.
    tensor_name
        Of the tensor.
    leave_parametrized
        Keep the value that was computed, not the original one.

    Examples
    --------
    >>> import pyqref
    >>> layer = register_parametrization(pyqref.nn.Linear(1, 1), "weight", pyqref.nn.Sigmoid())
    >>> type(remove_parametrizations(layer, "weight")).__name__, sorted(layer.state_dict())
    ('Linear', ['bias', 'weight'])
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(
            f"Module {type(module).__name__} does not have a parametrization on {tensor_name}"
        )
    chain = _chains(module)[tensor_name]
    if chain.is_tensor:
        original = chain.original
        if leave_parametrized:
            with no_grad():
                original.data = getattr(module, tensor_name).detach()
    elif leave_parametrized:
        value = getattr(module, tensor_name).detach()
        is_parameter = any(isinstance(each, Parameter) for each in chain._originals())
        original = Parameter(value) if is_parameter else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del _chains(module)[tensor_name]
    if len(_chains(module)) == 0:
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    _register(module, tensor_name, original)
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class of a module, without what parametrizations add to it.

    Examples
    --------
    >>> import pyqref
    >>> layer = register_parametrization(pyqref.nn.Linear(1, 1), "weight", pyqref.nn.Identity())
    >>> type_before_parametrizations(layer)
    <class 'pyqref.nn.modules.linear.Linear'>
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: AnyModule, to_module: Any, tensor_name: str | None = None
) -> Any:
    """Give a module the parametrizations of another one, with their parameters.

    Parameters
    ----------
    from_module
        The parametrized module.
    to_module
        A module with such a tensor; it is returned.
    tensor_name
        Of the tensor; all by default.
    """
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            _register(to_module, name, copy.deepcopy(from_module.parametrizations[name].original))
        for each in from_module.parametrizations[name]:
            register_parametrization(to_module, name, copy.deepcopy(each), unsafe=True)
        pairs = zip(
            to_module.parametrizations[name]._originals(),
            from_module.parametrizations[name]._originals(),
            strict=True,
        )
        for to, source in pairs:
            to.data = source.detach().clone()
    return to_module
