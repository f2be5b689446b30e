"""The path of a module as its user would write it, such as ``features.0.conv``.

Nothing is recorded while a model runs. When an error is to be reported, the calls
under way are read off the Python stack: each running ``Module.__call__`` is one step
of the path.
"""

from __future__ import annotations

from itertools import pairwise
from types import FrameType
from typing import Any

from .._insides.stack import caller
from .._typing import AnyModule, Module
from ..tensor.under_way import LayerUnderWay, set_layer_under_way
from .modules.hooks import CallsHooks

__all__ = ["CALLS", "describe_module", "layer_under_way", "module_path", "running_module"]

_OWN_LAYERS = ("pyqref.nn.", "pyqref.quantization.")
#: What runs when a module is called.
CALLS = frozenset({CallsHooks.__call__.__code__, CallsHooks._call_with_hooks.__code__})


def module_path(module: AnyModule) -> str:
    """Path of ``module`` from the outermost module that is being called.

    Empty if ``module`` is that outermost one, or is not being called and lies nowhere
    below it.

    Examples
    --------
    >>> from pyqref import nn
    >>> class Tell(nn.Module):
    ...     def forward(self, x):
    ...         return module_path(self)
    >>> nn.Sequential(nn.Sequential(Tell()))(None)
    '0.0'
    """
    running = _running_modules()
    if module in running:
        running = running[: running.index(module) + 1]
    else:
        running.append(module)
    steps: list[str] = []
    for outer, inner in pairwise(running):
        step = _path_below(outer, inner)
        # A module that is not registered below its caller starts a path of its own.
        steps = [] if step is None else [*steps, step]
    return ".".join(steps)


def running_module() -> Module | None:
    """The innermost module that is being called; None outside of all.

    Examples
    --------
    >>> running_module() is None
    True
    """
    running = _running_modules()
    return running[-1] if running else None


def describe_module(module: AnyModule) -> str:
    """``features.0.conv (Conv2d)``, or just ``Conv2d`` if the path is empty.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.describe_module(pyqref.nn.Linear(1, 1))
    'Linear'
    """
    path = module_path(module)
    name = type(module).__name__
    return f"{path} ({name})" if path else name


def layer_under_way() -> LayerUnderWay | None:
    """The innermost module that is being called, as messages name it; None if none is.

    Examples
    --------
    >>> from pyqref import nn
    >>> model = nn.Sequential(nn.Sequential(nn.ReLU()))
    >>> model[0][0].forward = lambda x: layer_under_way()
    >>> model(None)
    LayerUnderWay(path='0.0', described='0.0 (ReLU)', is_own=True)
    """
    layer = running_module()
    if layer is None:
        return None
    is_own = type(layer).__module__.startswith(_OWN_LAYERS)
    return LayerUnderWay(module_path(layer), describe_module(layer), is_own)


def _running_modules() -> list[Any]:
    """The modules that are being called, the outermost first."""
    running: list[Any] = []
    frame: FrameType | None = caller()
    while frame is not None:
        if frame.f_code in CALLS:
            module = frame.f_locals["self"]
            if not running or running[-1] is not module:
                running.append(module)
        frame = frame.f_back
    running.reverse()
    return running


def _path_below(root: Any, module: Any) -> str | None:
    for path, each in root.named_modules():
        if each is module:
            return str(path)
    return None


set_layer_under_way(layer_under_way)
