"""Functions for users of a compiler; they have no effect, and warn where this matters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .._typing import Module
from .script_module import RecursiveScriptModule, ScriptModule, copied

__all__ = [
    "enable_onednn_fusion",
    "freeze",
    "fuser",
    "onednn_fusion_enabled",
    "optimize_for_inference",
    "optimized_execution",
    "run_frozen_optimizations",
    "set_fusion_strategy",
]


def freeze(
    mod: Module,
    preserved_attrs: list[str] | None = None,
    optimize_numerics: bool = True,
    preserve_parameters: bool = False,
) -> Module:
    """A copy of a scripted model in evaluation mode, whose parameters want no gradients.

    ``torch`` writes parameters into the compiled program; here they stay parameters.

    Raises
    ------
    TypeError
        ``mod`` has not been scripted or traced.
    RuntimeError
        ``mod`` is in training mode.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> frozen = pyqref.jit.freeze(pyqref.jit.script(nn.Linear(2, 1).eval()))
    >>> any(each.requires_grad for each in frozen.parameters())
    False
    """
    _require_scripted("jit.freeze", mod)
    if mod.training:
        raise RuntimeError("jit.freeze: the model is in training mode; call eval() on it first")
    model = mod._model if isinstance(mod, RecursiveScriptModule) else mod
    frozen = copied(model, "jit.freeze")
    for module in frozen.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                module._parameters[name] = type(parameter)(parameter.detach(), requires_grad=False)
    return RecursiveScriptModule(frozen)


def optimize_for_inference(mod: Module, other_methods: list[str] | None = None) -> Module:
    """A copy as :func:`freeze` makes; one that is in training mode is copied in evaluation mode.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> fast = pyqref.jit.optimize_for_inference(pyqref.jit.script(nn.ReLU().eval()))
    >>> fast(pyqref.tensor([-1.0])).item()
    0.0
    """
    _require_scripted("jit.optimize_for_inference", mod)
    model = mod._model if isinstance(mod, RecursiveScriptModule) else mod
    return freeze(RecursiveScriptModule(copied(model, "jit.optimize_for_inference").eval()))


def run_frozen_optimizations(
    mod: Module, optimize_numerics: bool = True, preserved_methods: list[str] | None = None
) -> None:
    """Do nothing: nothing is compiled, so nothing is left to optimize.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> pyqref.jit.run_frozen_optimizations(pyqref.jit.script(nn.ReLU()))
    """
    _require_scripted("jit.run_frozen_optimizations", mod)


def _require_scripted(function: str, mod: Any) -> None:
    if not isinstance(mod, ScriptModule):
        raise TypeError(
            f"{function}: mod must be a scripted module, got {type(mod).__name__}; "
            "call pyqref.jit.script(model) first"
        )


class _Fusion:
    onednn = False


def enable_onednn_fusion(enabled: bool) -> None:
    """Remember the switch for :func:`onednn_fusion_enabled`; nothing is fused by a compiler.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.jit.enable_onednn_fusion(False)
    """
    _Fusion.onednn = bool(enabled)


def onednn_fusion_enabled() -> bool:
    """Return the last argument of :func:`enable_onednn_fusion`.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.jit.onednn_fusion_enabled()
    False
    """
    return _Fusion.onednn


def set_fusion_strategy(strategy: object) -> list[tuple[str, int]]:
    """Return the strategy before, which is empty: no compiler fuses anything.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.jit.set_fusion_strategy([("STATIC", 2)])
    []
    """
    return []


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A ``with`` inside which all runs as outside.

    Examples
    --------
    >>> import pyqref
    >>> with pyqref.jit.optimized_execution(False):
    ...     pass
    """
    yield


@contextmanager
def fuser(name: str) -> Iterator[None]:
    """A ``with`` inside which all runs as outside.

    Examples
    --------
    >>> import pyqref
    >>> with pyqref.jit.fuser("fuser1"):
    ...     pass
    """
    yield
