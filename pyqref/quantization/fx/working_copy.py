"""A graph to work on, so that the model that was given stays as it is.

::

    given                           copy
      block                           block             another container
        conv (ConvReLU2d)               conv            another layer ...
          0.weight                        0.weight      ... of the same parameters
      activation_post_process_0       activation_post_process_0      the same observer
"""

from __future__ import annotations

import copy
from typing import Any

from pyqref.fx import GraphModule
from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.nn.modules.module import Module

from .observed import is_observer

__all__ = ["own_layers", "working_copy"]

_CONTENTS = ("_modules", "_parameters", "_buffers")


def working_copy(model: GraphModule) -> GraphModule:
    """A graph and layers of its own, which share parameters, buffers and observers.

    Parameters
    ----------
    model
        A traced or prepared model.

    Examples
    --------
    >>> from pyqref import fx, nn
    >>> model = fx.symbolic_trace(nn.Sequential(nn.Linear(1, 1)))
    >>> copied = working_copy(model)
    >>> copied.get_submodule("0") is model.get_submodule("0")
    False
    >>> copied.get_submodule("0").weight is model.get_submodule("0").weight
    True
    """
    copied: GraphModule = copy.copy(model)
    own_layers(copied)
    return copied


def own_layers(model: GraphModule) -> None:
    """Replace the layers of a graph by such as can be changed, in place.

    Parameters
    ----------
    model
        The graph, whose layers belong to another model.
    """
    made: dict[int, Any] = {}
    for path, each in model._modules.items():
        model._modules[path] = _own(each, made)


def _own(module: Any, made: dict[int, Any]) -> Any:
    """A module that can be changed; observers, and graphs that copy themselves, stay."""
    if not isinstance(module, Module) or is_observer(module) or isinstance(module, GraphModule):
        return module
    if id(module) in made:
        return made[id(module)]
    copied = made[id(module)] = copy.copy(module)
    for name in _CONTENTS:
        copied.__dict__[name] = copy.copy(module.__dict__[name])
    if type(module) is Module or isinstance(module, _FusedModule):
        for name, child in copied._modules.items():
            copied._modules[name] = _own(child, made)
    return copied
