"""Parameters, buffers and submodules of a module, and their access as attributes.

A parameter, buffer or submodule does not lie in the instance's ``__dict__`` but in
one of three dictionaries, in the order of registration. ``module.name`` looks there
last, ``module.name = value`` decides by the type of ``value`` where it goes.
"""

from __future__ import annotations

from typing import Any

from ..._typing import Module, Tensor
from ...tensor.base import TensorBase
from ...tensor.foreign import kind_of
from ..parameter import Buffer, Parameter
from .handle import Hooks

__all__ = ["Members"]


class Members:
    """Registration and attribute access of :class:`~pyqref.nn.Module`."""

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _modules: dict[str, Any]
    # Called with (module, name, value) before a value is registered, for every module.
    _registration_hooks: dict[str, Hooks]

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter; None reserves the name for one that may come later.

        Raises
        ------
        TypeError
            ``name`` is no string, or ``param`` is no :class:`~pyqref.nn.Parameter`.
        KeyError
            ``name`` is empty, holds a dot, or is another attribute's.
        ValueError
            ``param`` is the result of an operation.
        """
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{kind_of(param)}' object to parameter '{name}' "
                "(pyqref.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"cannot assign non-leaf Tensor to parameter '{name}': model parameters must be "
                f"created explicitly; to express '{name}' as a function of another Tensor, "
                "compute the value in the forward() method"
            )
        self._parameters[name] = self._announce("parameter", name, param)

    def register_buffer(
        self, name: str, tensor: TensorBase | Buffer | None, persistent: bool = True
    ) -> None:
        """Add a tensor that is part of the module's state but no parameter.

        Parameters
        ----------
        name
            Attribute name.
        tensor
            Tensor or None.
        persistent
            Whether it is part of ``state_dict()``.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, TensorBase):
            raise TypeError(
                f"cannot assign '{kind_of(tensor)}' object to buffer '{name}' "
                "(pyqref.Tensor or None required)"
            )
        self._buffers[name] = self._announce("buffer", name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule under an attribute name; None reserves the name."""
        if module is not None and not isinstance(module, Members):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._modules[name] = self._announce("module", name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """Alias of :meth:`add_module`."""
        self.add_module(name, module)

    def _check_name(self, kind: str, name: Any, registry: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in registry:
            raise KeyError(f"attribute '{name}' already exists")

    def _announce(self, kind: str, name: str, value: Any) -> Any:
        """Run the registration hooks of all modules; they may replace the value."""
        for hook in self._registration_hooks[kind].values():
            replaced = hook(self, name, value)
            if replaced is not None:
                value = replaced
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        """Register a Parameter, Module or Buffer; otherwise set an ordinary attribute."""
        own = self.__dict__
        if isinstance(value, Parameter):
            if "_parameters" not in own:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif isinstance(value, Members):
            if "_modules" not in own:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, "_parameters", "_buffers")
            own["_modules"][name] = self._announce("module", name, value)
        elif name in own.get("_parameters", ()):
            self._refuse_unless(value is None, value, f"parameter '{name}'", "nn.Parameter")
            self.register_parameter(name, None)
        elif name in own.get("_modules", ()):
            self._refuse_unless(value is None, value, f"child module '{name}'", "nn.Module")
            own["_modules"][name] = None
        elif name in own.get("_buffers", ()):
            allowed = value is None or isinstance(value, TensorBase)
            self._refuse_unless(allowed, value, f"buffer '{name}'", "Tensor")
            own["_buffers"][name] = self._announce("buffer", name, value)
        elif isinstance(value, Buffer):
            self._forget(name)
            self.register_buffer(name, value, value.persistent)
        else:
            super().__setattr__(name, value)

    def _refuse_unless(self, allowed: bool, value: Any, target: str, expected: str) -> None:
        if not allowed:
            raise TypeError(
                f"cannot assign '{kind_of(value)}' as {target} (pyqref.{expected} or None expected)"
            )

    def _forget(self, name: str, *registries: str) -> None:
        """Make room for ``name``, which is to be registered as something else."""
        self.__dict__.pop(name, None)
        for registry in registries:
            self.__dict__[registry].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __getattr__(self, name: str) -> Tensor | Module:
        """Reached only if ``name`` is no ordinary attribute."""
        own = self.__dict__
        if "_modules" in own:  # made last: before Module.__init__() there is none of the three
            if name in (members := own["_modules"]):
                return members[name]
            if name in (members := own["_parameters"]):
                return members[name]
            if name in (members := own["_buffers"]):
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for registry in (self._parameters, self._buffers, self._modules):
            if name in registry:
                del registry[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__}
        names.update(self._parameters, self._modules, self._buffers)
        return sorted(name for name in names if not name[0].isdigit())
