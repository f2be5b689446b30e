"""A bug of the museum: a small change of one function of pyqref.numerics."""

from __future__ import annotations

import importlib
import inspect
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from pyqref._insides.code_objects import exchange

__all__ = ["Bug"]


@dataclass(frozen=True)
class Bug:
    """A bug that some library really had.

    Attributes
    ----------
    name
        Short, without spaces.
    title
        What goes wrong, in some words.
    story
        Where it was found, and what follows from it.
    reference
        Address of the public report.
    function
        Name below :mod:`pyqref.numerics`, such as ``"rounding.clamp_to_int"``.
    old, new
        The piece of its source that is replaced, and what takes its place.
    example
        An expression with names of :mod:`pyqref.numerics` whose value the bug changes.
    test
        A test of pyqref's own suite that fails with the bug.

    Examples
    --------
    >>> from pyqref.course.museum import bugs
    >>> bugs()["pads-with-zero"].function
    'convolution.conv_accumulator'
    """

    name: str
    title: str
    story: str
    reference: str
    function: str
    old: str
    new: str
    example: str
    test: str

    def original(self) -> FunctionType:
        """Return the function that has the bug while it is planted."""
        module, _, name = self.function.rpartition(".")
        found: FunctionType = getattr(importlib.import_module(f"pyqref.numerics.{module}"), name)
        return found

    def code(self) -> CodeType:
        """Return the code of the function with the bug in it."""
        function = self.original()
        source = textwrap.dedent(inspect.getsource(function))
        if source.count(self.old) != 1:
            raise ValueError(f"{self.name}: {self.function} must hold {self.old!r} once")
        made = compile(source.replace(self.old, self.new), f"<bug {self.name}>", "exec", 16777216)
        return next(
            each
            for each in made.co_consts
            if isinstance(each, CodeType) and each.co_name == function.__name__
        )

    @contextmanager
    def planted(self) -> Iterator[None]:
        """Give the function the bug for a while, wherever it was imported to."""
        function = self.original()
        before = function.__code__
        exchange(function, self.code())
        try:
            yield
        finally:
            exchange(function, before)

    def values(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the value of the example without the bug and with it."""
        right = self._value()
        with self.planted():
            return right, self._value()

    def _value(self) -> np.ndarray:
        names: dict[str, Any] = {"np": np}
        for module in MODULES:
            names[module] = importlib.import_module(f"pyqref.numerics.{module}")
        with np.errstate(all="ignore"):
            value = eval(self.example, names)
        parts = value if isinstance(value, tuple | list) else [value]
        return np.concatenate([np.ravel(np.asarray(each, np.float64)) for each in parts])


MODULES = (
    "activation",
    "affine",
    "convolution",
    "elementwise",
    "embedding",
    "fake_quantize",
    "folding",
    "fused_observe",
    "learnable_fake_quantize",
    "linear",
    "moving_average",
    "pooling",
    "qparams",
    "requantize",
    "rounding",
)
