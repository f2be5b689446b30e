"""Targets of observation for each node: its input, weight, bias and output.

A node that no pattern matches, or whose QConfig the back end cannot satisfy, is float on
both sides. ``x.size()`` and what is computed from it alone is no tensor: nothing is
observed there. :mod:`.observing` reads it::

    x -> linear -> sin -> y
         linear     input quint8, weight qint8, bias float32, output quint8
         sin        float32 on both sides
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pyqref.dtypes import dtype as DType
from pyqref.dtypes import float16, float32
from pyqref.fx import Node
from pyqref.quantization.backend_config import ObservationType
from pyqref.quantization.observer.placeholder import PlaceholderObserver

from ..._typing import QConfigLike
from .dtype_support import Types
from .matching import Match

__all__ = ["FLOAT", "Target", "observed_output", "observation_type", "target_of_match"]


@dataclass(frozen=True)
class Want:
    """A recipe for an observer, and the type that it says.

    Attributes
    ----------
    recipe
        Makes the observer; None where the type is known without one.
    dtype
        The type after it; None if it is no tensor.
    is_dynamic
        Whether quantization is left to the time when the model runs.
    """

    recipe: Any
    dtype: DType | None
    is_dynamic: bool = False

    @cached_property
    def is_observed(self) -> bool:
        """Return True if the type is one that an observer gives."""
        return self.dtype is not None and (self.dtype.is_quantized or self.dtype is float16)


@dataclass(frozen=True)
class Target:
    """Requirements of a node for its input, weight, bias and output."""

    input: Want
    weight: Want
    bias: Want
    output: Want


_FLOAT = Want(None, float32)
_NOTHING = Want(None, None)
#: A node that computes with float tensors, and one without tensors.
FLOAT = Target(_FLOAT, _FLOAT, _FLOAT, _FLOAT)
NO_TENSOR = Target(_NOTHING, _NOTHING, _NOTHING, _NOTHING)


def observed_output(dtype: DType) -> Target:
    """An input of the model that is quantized already, or an output that stays so."""
    want = Want(PlaceholderObserver.with_args(dtype=dtype), dtype)
    return Target(want, want, want, want)


def target_of_match(match: Match, qconfig: QConfigLike) -> Target:
    """Return the target of a quantized pattern.

    Parameters
    ----------
    match
        The pattern's nodes.
    qconfig
        Its QConfig, which the back end can satisfy.
    """
    if match.config.observation_type is ObservationType.INPUT_OUTPUT_NOT_OBSERVED:
        return NO_TENSOR
    types = Types(qconfig)
    activation = Want(qconfig.activation, types.activation, types.is_dynamic)
    bias = Want(PlaceholderObserver.with_args(dtype=types.bias), types.bias)
    return Target(
        input=activation,
        weight=Want(qconfig.weight, types.weight),
        bias=bias,
        output=_FLOAT if types.is_dynamic else activation,
    )


def observation_type(match: Match, has_tensors: Mapping[Node, bool]) -> ObservationType:
    """Return the observer behind a pattern, where that depends on its arguments, too."""
    by_count = match.config._num_tensor_args_to_observation_type
    if not by_count:
        return match.config.observation_type
    arguments = (*match.root.args[:2], match.root.kwargs.get("other"))
    count = sum(isinstance(each, Node) and has_tensors[each] for each in arguments)
    return by_count[count]
