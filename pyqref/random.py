"""Random numbers: the functions of ``torch.random``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .tensor import default_generator as default_generator
from .tensor import get_rng_state as get_rng_state
from .tensor import initial_seed as initial_seed
from .tensor import manual_seed as manual_seed
from .tensor import seed as seed
from .tensor import set_rng_state as set_rng_state

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


@contextlib.contextmanager
def fork_rng(
    devices: object = None, enabled: bool = True, *args: object, **kwargs: object
) -> Iterator[None]:
    """A ``with`` after which random numbers go on as if nothing had been drawn inside.

    Parameters
    ----------
    devices
        Of no use here: there is no GPU.
    enabled
        Whether to do so.
    *args, **kwargs
        Of no use here.

    Examples
    --------
    >>> import pyqref
    >>> _ = pyqref.manual_seed(0)
    >>> with pyqref.random.fork_rng():
    ...     inside = pyqref.rand(1)
    >>> pyqref.equal(inside, pyqref.rand(1))
    True
    """
    state = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if state is not None:
            set_rng_state(state)
