"""Activation checkpointing: the results without the saving."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._typing import Tensor
from ..nn.diagnostics import NoEffectWarning, warn

__all__ = ["checkpoint", "checkpoint_sequential", "get_device_states", "set_device_states"]


def checkpoint(
    function: Callable[..., Any],
    *args: Tensor,
    use_reentrant: bool | None = None,
    context_fn: object = None,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: object,
) -> Tensor:
    """Call a function. Results and gradients are those of ``torch``; no memory is saved.

    ``torch`` forgets what the function computes in between, and computes it again for the
    gradient. Here it is kept.

    Parameters
    ----------
    function
        What to call.
    *args, **kwargs
        Its arguments.
    use_reentrant, context_fn, determinism_check, debug, early_stop, preserve_rng_state
        Of no use here: nothing is computed twice.

    Warns
    -----
    NoEffectWarning
        Always, since nothing is saved.

    Examples
    --------
    >>> import warnings, pyqref
    >>> from pyqref.utils.checkpoint import checkpoint
    >>> x = pyqref.ones(2, requires_grad=True)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     checkpoint(pyqref.exp, x, use_reentrant=False).sum().backward()
    >>> x.grad
    tensor([2.7183, 2.7183])
    """
    _say()
    return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Sequence[Callable[..., Any]],
    segments: int,
    input: Tensor,
    use_reentrant: bool | None = None,
    **kwargs: object,
) -> Tensor:
    """Call one module or function after the other, as :func:`checkpoint` does.

    Parameters
    ----------
    functions
        A ``Sequential``, or a list of modules or functions.
    segments
        Of no use here.
    input
        What the first is given.
    use_reentrant
        Of no use here.
    **kwargs
        Of no use here.

    Examples
    --------
    >>> import warnings, pyqref
    >>> from pyqref.utils.checkpoint import checkpoint_sequential
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     checkpoint_sequential([pyqref.neg, pyqref.exp], 2, pyqref.zeros(1)).item()
    1.0
    """
    _say()
    for function in functions:
        input = function(input)
    return input


def _say() -> None:
    warn(
        "utils.checkpoint has no effect: all activations are kept; results and gradients are the "
        "same. Call the function itself, and smaller batches where the memory does not suffice",
        NoEffectWarning,
    )


def get_device_states(*args: Tensor) -> tuple[list[int], list[Any]]:
    """The devices besides the CPU that hold the arguments, and their generators' states: none.

    Examples
    --------
    >>> import pyqref
    >>> get_device_states(pyqref.ones(1))
    ([], [])
    """
    return [], []


def set_device_states(devices: object, states: object, *, device_type: object = None) -> None:
    """Put back what :func:`get_device_states` gave: there is nothing to put back.

    Examples
    --------
    >>> set_device_states([], [])
    """
