"""``Module``: the base class of every layer and model.

The class is the sum of five short ones, each in a file of its own: what a module owns
(:mod:`.members`), how the tree is walked (:mod:`.traversal`), how it is called
(:mod:`.hooks`), its state (:mod:`.state`) and its dtype (:mod:`.conversion`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .conversion import Converts
from .hooks import CallsHooks
from .hooks import register_module_backward_hook as register_module_backward_hook
from .hooks import (
    register_module_buffer_registration_hook as register_module_buffer_registration_hook,
)
from .hooks import register_module_forward_hook as register_module_forward_hook
from .hooks import register_module_forward_pre_hook as register_module_forward_pre_hook
from .hooks import register_module_full_backward_hook as register_module_full_backward_hook
from .hooks import register_module_full_backward_pre_hook as register_module_full_backward_pre_hook
from .hooks import (
    register_module_module_registration_hook as register_module_module_registration_hook,
)
from .hooks import (
    register_module_parameter_registration_hook as register_module_parameter_registration_hook,
)
from .html import module_html
from .printing import module_repr
from .state import HasState

if TYPE_CHECKING:
    from typing_extensions import Self
else:
    Self = Any  # typing.get_type_hints reads it

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

_HOOK_DICTIONARIES = (
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_backward_pre_hooks",
    "_backward_hooks",
    "_state_dict_pre_hooks",
    "_state_dict_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


class Module(CallsHooks, HasState, Converts):
    """A function with parameters and submodules.

    Subclasses call ``super().__init__()``, assign parameters, buffers and submodules as
    attributes, and define :meth:`forward`.

    Attributes
    ----------
    training : bool
        Whether the module is in training mode.

    Notes
    -----
    A state that cannot be loaded leaves the module as it was; ``torch`` has by then
    copied the tensors that did fit.

    Source: documentation of ``torch.nn.Module``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> class Scale(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = nn.Parameter(pyqref.tensor([2.0]))
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> scale = Scale()
    >>> scale(pyqref.tensor([1.0, 3.0])).tolist()
    [2.0, 6.0]
    >>> list(scale.state_dict())
    ['factor']
    """

    #: Version of the layout of the state; saved in ``state_dict()._metadata``.
    _version: int = 1
    #: Whether ``__init__`` goes on to the next class in the order of inheritance.
    call_super_init: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            unexpected = repr(next(iter(kwargs))) if kwargs else f"{len(args)} positional"
            raise TypeError(
                f"{type(self).__name__}.__init__() takes no arguments for Module, got {unexpected}"
            )
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _non_persistent_buffers_set=set(),
            _modules={},
            **{name: OrderedDict() for name in _HOOK_DICTIONARIES},
        )
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output of the module; every subclass defines it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def train(self, mode: bool = True) -> Self:
        """Set training mode for this module and all below it."""
        if not isinstance(mode, bool):
            raise ValueError(f"training mode is expected to be boolean, got {mode!r}")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set evaluation mode for this module and all below it."""
        return self.train(False)

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call ``fn`` on every module below, then on this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def extra_repr(self) -> str:
        """Return the text in the parentheses when the module is printed."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        return module_repr(self)

    def _repr_html_(self) -> str:
        return module_html(self)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _HOOK_DICTIONARIES:
            self.__dict__.setdefault(name, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
