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
from typing import Any, NamedTuple

from ...tape import no_grad
from ...tensor.base import TensorBase
from ...tensor.parameter import Parameter
from .handle import Hooks, RemovableHandle, add_hook
from .members import Members
from .undo import Undo

__all__ = ["HasState", "IncompatibleKeys"]

_EXTRA_STATE = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """What ``load_state_dict`` returns: keys that were missing, and keys that had no place."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )

    def __str__(self) -> str:
        return repr(self)


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
    ) -> Any:
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

    def get_extra_state(self) -> Any:
        """Override to add something that is no tensor to the module's state."""
        raise RuntimeError(
            f"{type(self).__name__} has no extra state: define get_extra_state to give it one"
        )

    def set_extra_state(self, state: Any) -> None:
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
        undo = Undo(self)
        try:
            keys, errors = self._load(state_dict, strict, assign)
            if strict:
                errors = [*_complaints(keys), *errors]
            if errors:
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
        state: OrderedDict[str, Any] = OrderedDict(state_dict)
        if metadata is not None:
            state._metadata = metadata  # type: ignore[attr-defined]

        def load(module: Any, state: Any, prefix: str) -> None:
            local_metadata = dict((metadata or {}).get(prefix[:-1], {}))
            if assign:
                local_metadata["assign_to_params_buffers"] = True
            module._load_from_state_dict(state, prefix, local_metadata, True, *keys, errors)
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
                _load_tensor(self, name, tensor, key, state_dict[key], assign, error_msgs)
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
        """As the post-hook, but what it returns replaces the dictionary."""
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

    def __init__(self, hook: Callable[..., Any], module: Any) -> None:
        self.hook = hook
        self.module = module

    def __call__(self, *args: Any) -> Any:
        return self.hook(self.module, *args)


def _complaints(keys: IncompatibleKeys) -> list[str]:
    """The missing and the unexpected keys, in words."""
    kinds = (("Missing", keys.missing_keys), ("Unexpected", keys.unexpected_keys))
    return [
        f"{kind} key(s) in state_dict: " + ", ".join(f'"{key}"' for key in found) + ". "
        for kind, found in kinds
        if found
    ]


def _load_tensor(
    module: Any,
    name: str,
    tensor: Any,
    key: str,
    given: Any,
    assign: bool,
    error_msgs: list[str],
) -> None:
    """Copy one given tensor into the module's own, or note why that cannot be."""
    if not isinstance(given, TensorBase):
        error_msgs.append(
            f'While copying the parameter named "{key}", expected pyqref.Tensor or Tensor-like '
            f"object from checkpoint but received {type(given)}"
        )
        return
    source: Any = given
    if tensor._array.ndim == 0 and source._array.shape == (1,):
        source = source[0]
    if source._array.shape != tensor._array.shape:
        error_msgs.append(
            f"size mismatch for {key}: copying a param with shape {source.shape} from "
            f"checkpoint, the shape in current model is {tensor.shape}."
        )
        return
    if source.is_quantized and not tensor.is_quantized and not assign:
        error_msgs.append(
            f'While copying the parameter named "{key}": copying from a quantized tensor to one '
            "that is not is not allowed; dequantize() it, or load it into a quantized module"
        )
        return
    try:
        if assign and isinstance(tensor, Parameter):
            setattr(module, name, Parameter(source, requires_grad=tensor.requires_grad))
        elif assign:
            setattr(module, name, source)
        else:
            tensor.copy_(source)
    except Exception as error:
        error_msgs.append(
            f'While copying the parameter named "{key}", whose dimensions in the model are '
            f"{tensor.shape} and whose dimensions in the checkpoint are {source.shape}, "
            f"an exception occurred : {error.args}."
        )
