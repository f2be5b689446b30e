"""Recipes for observers: a class and the arguments it will be made with."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..._typing import Module

__all__ = ["PartialWrapper", "make_partial"]


class PartialWrapper:
    """A constructor with some of its arguments given in advance.

    A :class:`~pyqref.quantization.QConfig` holds recipes, not observers, because each
    layer gets an observer of its own: calling the recipe makes one.

    Parameters
    ----------
    p
        The constructor with its fixed arguments.
    callable_args
        Arguments whose value is found by calling a function each time.
    """

    def __init__(
        self,
        p: functools.partial[Any],
        callable_args: dict[str, Callable[[], Any]] | None = None,
    ) -> None:
        self.p = p
        self.callable_args = callable_args or {}

    def __call__(self, *args: object, **keywords: object) -> Module:
        """Make one; arguments given here win over those given in advance."""
        for name, value in self.callable_args.items():
            if name not in keywords:
                keywords[name] = value()
        return self.p(*args, **keywords)

    def with_args(self, **kwargs: object) -> PartialWrapper:
        """Return a copy of the recipe with additional or changed arguments.

        Examples
        --------
        >>> import pyqref
        >>> recipe = pyqref.quantization.default_observer.with_args(dtype=pyqref.qint8)
        >>> recipe().quant_min, recipe().quant_max
        (-64, 63)
        """
        return PartialWrapper(functools.partial(self.p, **kwargs), dict(self.callable_args))

    def with_callable_args(self, **kwargs: Callable[[], Any]) -> PartialWrapper:
        """Return a copy of the recipe with arguments that are computed for each new object."""
        return PartialWrapper(self.p, {**self.callable_args, **kwargs})

    def __repr__(self) -> str:
        return repr(self.p) + repr(self.callable_args)


def make_partial(constructor: Callable[..., Any], **kwargs: object) -> PartialWrapper:
    """A recipe that calls ``constructor`` with ``kwargs``."""
    return PartialWrapper(functools.partial(constructor, **kwargs))
