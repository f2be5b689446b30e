"""Base class of lazy layers: the first input decides the shapes of their parameters."""

from __future__ import annotations

import itertools
from typing import Any

from ..uninitialized import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """A layer whose parameters get their shapes when it is first called.

    A lazy class derives from this one and from that of the layer, names it as ``cls_to_become``,
    makes its parameters :class:`~pyqref.nn.parameter.UninitializedParameter`, and defines
    :meth:`initialize_parameters`. Give an optimiser the parameters after the first call.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.nn.Sequential(pyqref.nn.LazyLinear(3), pyqref.nn.ReLU())
    >>> model[0]
    LazyLinear(in_features=0, out_features=3, bias=True)
    >>> model(pyqref.ones(2, 5)).shape, model[0]
    (pyqref.Size([2, 3]), Linear(in_features=5, out_features=3, bias=True))
    """

    #: The class of the layer after the first call.
    cls_to_become: type[Any] | None = None
    weight: Any
    bias: Any

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self.register_load_state_dict_pre_hook(_shapes_from_state)
        self._initialize_hook = self.register_forward_pre_hook(_infer_parameters, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes and first values; takes what the layer takes."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self: Any) -> bool:
        """Return True if a parameter or buffer has no shape yet."""
        values = itertools.chain(self._parameters.values(), self._buffers.values())
        return any(is_lazy(value) for value in values)

    def _save_to_state_dict(self: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Save the state like every layer, with parameters without a shape as they are."""
        for members in (self._parameters, self._buffers):
            for name, value in members.items():
                if value is None or name in self._non_persistent_buffers_set:
                    continue
                kept = keep_vars or is_lazy(value)
                destination[prefix + name] = value if kept else value.detach()


def _shapes_from_state(
    module: Any, state_dict: Any, prefix: str, *args: Any, **kwargs: Any
) -> None:
    """Give the parameters the shapes of the values in a state that is about to be loaded."""
    for members in (module._parameters, module._buffers):
        for name, value in members.items():
            saved = state_dict.get(prefix + name)
            if is_lazy(value) and saved is not None and not is_lazy(saved):
                value.materialize(saved.shape)


def _infer_parameters(module: Any, args: Any, kwargs: Any) -> None:
    """Infer the parameters before the first call."""
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(
            f"module {type(module).__name__} has not been fully initialized: "
            "initialize_parameters() left a parameter without a shape"
        )
    module._initialize_hook.remove()
    module._load_hook.remove()
    del module._initialize_hook, module._load_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become
