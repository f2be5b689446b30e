"""Calling a module, and the functions that may be hung before and after the call."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from .backward_hooks import BackwardHooks
from .handle import Hooks, RemovableHandle, add_hook
from .members import Members

__all__ = [
    "CallsHooks",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

# Hooks of every module.
_forward_pre: Hooks = OrderedDict()
_forward: Hooks = OrderedDict()
_forward_with_kwargs: OrderedDict[int, bool] = OrderedDict()
_forward_always: OrderedDict[int, bool] = OrderedDict()
_backward_pre: Hooks = OrderedDict()
_backward: Hooks = OrderedDict()
_registration: dict[str, Hooks] = {
    "parameter": OrderedDict(),
    "buffer": OrderedDict(),
    "module": OrderedDict(),
}


class CallsHooks(Members):
    """``__call__`` and hooks of :class:`~pyqref.nn.Module`."""

    forward: Callable[..., Any]
    _registration_hooks = _registration
    _forward_pre_hooks: Hooks
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks: Hooks
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _backward_pre_hooks: Hooks
    _backward_hooks: Hooks

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run :meth:`forward`, with the hooks around it."""
        # A class with ``__getattr__`` finds its attributes half as fast as a dict does.
        own = self.__dict__
        if "_forward_hooks" not in own:
            name = type(self).__name__
            raise AttributeError(f"cannot call {name} before its Module.__init__() was called")
        if (
            own["_forward_hooks"]
            or own["_forward_pre_hooks"]
            or own["_backward_hooks"]
            or own["_backward_pre_hooks"]
            or _forward
            or _forward_pre
            or _backward
            or _backward_pre
        ):
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs) if kwargs else self.forward(*args)

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        called: set[int] = set()
        result: Any = None
        try:
            for number, hook in (*_forward_pre.items(), *self._forward_pre_hooks.items()):
                with_kwargs = number in self._forward_pre_hooks_with_kwargs
                args, kwargs = _run_pre_hook(hook, with_kwargs, self, args, kwargs)
            backward = None
            if self._backward_hooks or self._backward_pre_hooks or _backward or _backward_pre:
                pre_hooks = [*_backward_pre.values(), *self._backward_pre_hooks.values()]
                hooks = [*_backward.values(), *self._backward_hooks.values()]
                backward = BackwardHooks(self, pre_hooks, hooks)
                args = backward.around_inputs(args)
            result = self.forward(*args, **kwargs)
            for number, hook, with_kwargs, _ in self._all_forward_hooks():
                called.add(number)
                replaced = _run_forward_hook(hook, with_kwargs, self, args, kwargs, result)
                result = result if replaced is None else replaced
            return result if backward is None else backward.around_outputs(result)
        except Exception:
            for number, hook, with_kwargs, always in self._all_forward_hooks():
                if always and number not in called:
                    try:
                        replaced = _run_forward_hook(hook, with_kwargs, self, args, kwargs, result)
                    except Exception as error:
                        warnings.warn(
                            f"forward hook with always_call=True of {type(self).__name__} raised "
                            f"{type(error).__name__}: {error}; the error of the call follows",
                            stacklevel=3,
                        )
                    else:
                        result = result if replaced is None else replaced
            raise

    def _all_forward_hooks(self) -> list[tuple[int, Callable[..., Any], bool, bool]]:
        """Number, function, with_kwargs and always_call of each hook, in calling order."""
        of_every_module = [
            (number, hook, number in _forward_with_kwargs, number in _forward_always)
            for number, hook in _forward.items()
        ]
        own = [
            (
                number,
                hook,
                number in self._forward_hooks_with_kwargs,
                number in self._forward_hooks_always_called,
            )
            for number, hook in self._forward_hooks.items()
        ]
        return of_every_module + own

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before each forward; what it returns replaces ``args``.

        Parameters
        ----------
        hook
            The function. It may return None, a tuple of arguments, or one value.
        prepend
            Run it before the hooks that are already there.
        with_kwargs
            Call ``hook(module, args, kwargs)``, which returns None or both.
        """
        flags = [(self._forward_pre_hooks_with_kwargs, with_kwargs)]
        return add_hook(self._forward_pre_hooks, hook, prepend=prepend, flags=flags)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after each forward; its result replaces the output.

        Parameters
        ----------
        hook
            The function; None from it leaves the output.
        prepend
            Run it before the hooks that are already there.
        with_kwargs
            Call ``hook(module, args, kwargs, output)``.
        always_call
            Run it also if forward raises; what it raises itself is then a warning.
        """
        flags = [
            (self._forward_hooks_with_kwargs, with_kwargs),
            (self._forward_hooks_always_called, always_call),
        ]
        return add_hook(self._forward_hooks, hook, prepend=prepend, flags=flags)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before the module's gradients are computed."""
        return add_hook(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` once the input's gradients are known.

        Both are tuples, with None where there is no tensor or no gradient is wanted (an
        output that had no part in the result has a gradient of zeros). What the hook
        returns replaces ``grad_input``.
        """
        return add_hook(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Old name of :meth:`register_full_backward_hook`."""
        return self.register_full_backward_hook(hook)


def _run_pre_hook(
    hook: Callable[..., Any],
    with_kwargs: bool,
    module: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    replaced = hook(module, args, kwargs) if with_kwargs else hook(module, args)
    if replaced is None:
        return args, kwargs
    if not with_kwargs:
        return replaced if isinstance(replaced, tuple) else (replaced,), kwargs
    if not (isinstance(replaced, tuple) and len(replaced) == 2):
        raise RuntimeError(
            "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
            f"but got {replaced}"
        )
    return replaced


def _run_forward_hook(
    hook: Callable[..., Any],
    with_kwargs: bool,
    module: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    result: Any,
) -> Any:
    return hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before the forward of every module."""
    return add_hook(_forward_pre, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after the forward of every module."""
    flags = [(_forward_with_kwargs, with_kwargs), (_forward_always, always_call)]
    return add_hook(_forward, hook, flags=flags)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` for every module on the way back."""
    return add_hook(_backward_pre, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` for every module on the way back."""
    return add_hook(_backward, hook)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Old name of :func:`register_module_full_backward_hook`."""
    return register_module_full_backward_hook(hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` when a module registers a parameter."""
    return add_hook(_registration["parameter"], hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` when a module registers a buffer."""
    return add_hook(_registration["buffer"], hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` when a module registers a submodule."""
    return add_hook(_registration["module"], hook)
