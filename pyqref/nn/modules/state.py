"""The state of a module: out of it as a flat dictionary, and back into it.

``state_dict`` walks the tree and asks each module to save what it owns under its
path; ``load_state_dict`` walks it again and asks each to take what is its own. A
module with a state of another kind overrides ``_save_to_state_dict`` and
``_load_from_state_dict``.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from ..._typing import AnyModule
from ...tape import no_grad
from .handle import Hooks, RemovableHandle, add_hook
from .loading import IncompatibleKeys, complaints, load_tensor
from .members import Members
from .state_kind import advice_on_kinds
from .undo import Undo

__all__ = ["HasState"]

_EXTRA_STATE = "_extra_state"


class HasState(Members):
    """``state_dict`` and ``load_state_dict`` of :class:`~pyqref.nn.Module`."""

    _version: int
    _state_dict_pre_hooks: Hooks
    _state_dict_hooks: Hooks
    _load_state_dict_pre_hooks: Hooks
    _load_state_dict_post_hooks: Hooks

    def state_dict(
        self,
        *args: Any,
        destination: Any = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> dict[str, Any]:
        """Parameters and persistent buffers of the whole tree, by path.

        Parameters
        ----------
        *args
            The same, by position; deprecated.
        destination
            Dictionary to add to; a new one by default.
        prefix
            Put before every key.
        keep_vars
            Give the tensors themselves, not detached ones.

        Returns
        -------
        OrderedDict
            The tensors share memory with the module; ``_metadata`` has its version
            for each module.
        """
        if args:
            warnings.warn(
                "positional arguments of state_dict are deprecated; "
                "name them: destination=, prefix=, keep_vars=",
                FutureWarning,
                stacklevel=2,
            )
            given = (*args, *(destination, prefix, keep_vars)[len(args) :])
            destination, prefix, keep_vars = given
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in self._state_dict_hooks.values():
            replaced = hook(self, destination, prefix, local_metadata)
            destination = destination if replaced is None else replaced
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put what this module itself owns into ``destination``, keys after ``prefix``."""
        for name, tensor in self._own_state().items():
            if tensor is not None:
                destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not HasState.get_extra_state:
            destination[prefix + _EXTRA_STATE] = self.get_extra_state()

    def _own_state(self) -> dict[str, Any]:
        buffers = {
            name: buffer
            for name, buffer in self._buffers.items()
            if name not in self._non_persistent_buffers_set
        }
        return {**self._parameters, **buffers}

    def get_extra_state(self) -> object:
        """Override to add something that is no tensor to the module's state."""
        raise RuntimeError(
            f"{type(self).__name__} has no extra state: define get_extra_state to give it one"
        )

    def set_extra_state(self, state: object) -> None:
        """Override to take back what :meth:`get_extra_state` gave."""
        raise RuntimeError(
            f"{type(self).__name__} has no extra state: define set_extra_state to load one"
        )

    @no_grad()
    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy the tensors of ``state_dict`` into the parameters and buffers of the tree.

        Parameters
        ----------
        state_dict
            What :meth:`state_dict` of such a module gave.
        strict
            Keys that are missing or have no place are an error.
        assign
            Put the given tensors in the place of the module's, instead of copying.

        Returns
        -------
        IncompatibleKeys
            The missing and the unexpected keys.

        Raises
        ------
        RuntimeError
            Something does not fit: every missing key, unexpected key and wrong size
            is listed, and the module is as it was before.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        for key in state_dict:
            if not isinstance(key, str):
                raise TypeError(f"Expected the keys of state_dict to be strings, got {key!r}.")
        undo = Undo(self)
        try:
            keys, errors = self._load(state_dict, strict, assign)
            if strict:
                errors = [*complaints(keys), *errors]
            if errors:
                errors += advice_on_kinds(state_dict, self.state_dict(), *keys)
                raise RuntimeError(
                    f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                    + "\n\t".join(errors)
                )
        except BaseException:
            undo.run()
            raise
        return keys

    def _load(
        self, state_dict: Mapping[str, Any], strict: bool, assign: bool
    ) -> tuple[IncompatibleKeys, list[str]]:
        keys = IncompatibleKeys([], [])
        errors: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        given = state_dict
        state: OrderedDict[str, Any] = OrderedDict(state_dict)
        if metadata is not None:
            state._metadata = metadata  # type: ignore[attr-defined]

        def load(module: Any, state: Any, prefix: str) -> None:
            local_metadata = dict((metadata or {}).get(prefix[:-1], {}))
            if assign:
                local_metadata["assign_to_params_buffers"] = True
            try:
                module._load_from_state_dict(state, prefix, local_metadata, True, *keys, errors)
            except (AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
                where = f"{prefix[:-1] or 'itself'} ({type(module).__name__})"
                what = f"{where} cannot take its state: {type(error).__name__}: {error}"
                raise RuntimeError(
                    f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                    + "\n\t".join([what, *advice_on_kinds(given, self.state_dict(), *keys)])
                ) from error
            for name, child in module._modules.items():
                if child is not None:
                    path = f"{prefix}{name}."
                    below = {key: value for key, value in state.items() if key.startswith(path)}
                    load(child, below, path)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, keys) is not None:
                    raise RuntimeError(
                        "a hook of register_load_state_dict_post_hook must return None; "
                        "change the incompatible keys in place instead"
                    )

        load(self, state, "")
        return keys, errors

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Take what this module itself owns out of ``state_dict``, keys after ``prefix``."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(
                state_dict,
                prefix,
                local_metadata,
                strict,
                missing_keys,
                unexpected_keys,
                error_msgs,
            )
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = {name: tensor for name, tensor in self._own_state().items() if tensor is not None}
        for name, tensor in own.items():
            key = prefix + name
            if key in state_dict:
                load_tensor(self, name, tensor, key, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra_key = prefix + _EXTRA_STATE
        if type(self).set_extra_state is not HasState.set_extra_state:
            if extra_key in state_dict:
                self.set_extra_state(state_dict[extra_key])
            elif strict:
                missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)
        if strict:
            for key in state_dict:
                if not key.startswith(prefix) or key == extra_key:
                    continue
                name, _, below = key[len(prefix) :].partition(".")
                if name not in (self._modules if below else own):
                    unexpected_keys.append(key)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before the module's state is taken."""
        return add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after; it returns None."""

        def checked(*args: Any) -> None:
            if hook(*args) is not None:
                raise RuntimeError("state_dict post-hook must return None")

        return add_hook(self._state_dict_hooks, checked)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Register a post-hook whose result replaces the dictionary."""
        return add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, *arguments of _load_from_state_dict)`` before loading."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        return add_hook(
            self._load_state_dict_pre_hooks, BoundHook(hook, self) if with_module else hook
        )

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after; it may change the keys in place."""
        return add_hook(self._load_state_dict_post_hooks, hook)


class BoundHook:
    """A hook that gets its module as first argument; copied together with the module."""

    def __init__(self, hook: Callable[..., Any], module: AnyModule) -> None:
        self.hook = hook
        self.module = module

    def __call__(self, *args: object) -> object:
        return self.hook(self.module, *args)
