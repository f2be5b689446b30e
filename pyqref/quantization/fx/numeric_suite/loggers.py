"""Modules that remember what goes through them."""

from __future__ import annotations

from typing import Any

from pyqref._typing import Tensor
from pyqref.nn import Module

from .errors import compute_sqnr

__all__ = [
    "OutputComparisonLogger",
    "OutputLogger",
    "loggers_set_enabled",
    "loggers_set_save_activations",
]


class OutputLogger(Module):
    """Remembers the values of one node of a model; a base for your own loggers.

    Parameters
    ----------
    ref_node_name, ref_node_target_type
        The operation that the values belong to, and what it is.
    prev_node_name, prev_node_target_type
        The node that gives the values, and what it is.
    model_name
        The name of the model in results.
    ref_name
        The name of the pair of operations.
    results_type
        ``"node_output"`` or ``"node_input"``.
    index_of_arg, index_within_arg
        Which input, and which element of it if it is a list.
    fqn
        Path of the module with the operation; None if not known.
    qconfig_str
        How the operation is quantized.

    Attributes
    ----------
    stats
        The values, one a call.
    stats_rnn
        The values that are tuples ``(output, (hidden, cell))``.
    enabled
        Whether anything is remembered.
    save_activations
        Whether the values are; without, a comparison only remembers its number.

    Examples
    --------
    >>> import pyqref
    >>> logger = OutputLogger("relu", "relu", "a", "base_op", "", "", "node_output", 0, 0, None)
    >>> logger(pyqref.ones(1)), logger.stats
    (tensor([1.]), [tensor([1.])])
    """

    _is_impure = True

    def __init__(
        self,
        ref_node_name: str,
        prev_node_name: str,
        model_name: str,
        ref_name: str,
        prev_node_target_type: str,
        ref_node_target_type: str,
        results_type: str,
        index_within_arg: int,
        index_of_arg: int,
        fqn: str | None,
        qconfig_str: str | None = "",
    ) -> None:
        super().__init__()
        self.stats: list[Any] = []
        self.stats_rnn: list[Any] = []
        self.ref_node_name = ref_node_name
        self.prev_node_name = prev_node_name
        self.model_name = model_name
        self.ref_name = ref_name
        self.prev_node_target_type = prev_node_target_type
        self.ref_node_target_type = ref_node_target_type
        self.results_type = results_type
        self.index_within_arg = index_within_arg
        self.index_of_arg = index_of_arg
        self.fqn = fqn
        self.qconfig_str = qconfig_str
        self.enabled = True
        self.save_activations = True

    def forward(self, x: Tensor) -> Tensor:
        """The input, which is remembered."""
        if self.enabled and self.save_activations:
            stats = self.stats_rnn if isinstance(x, tuple) else self.stats
            stats.append(_detached(x))
        return x

    def extra_repr(self) -> str:
        values = ("ref_name", "model_name", "prev_node_name", "ref_node_name", "results_type")
        return ", ".join(f"{name}={getattr(self, name)}" for name in values)


class OutputComparisonLogger(OutputLogger):
    """Remembers values, and how far they are from others that come beside them.

    Attributes
    ----------
    comparisons
        One number a call, in dB.
    comparison_fn
        What gives it: :func:`compute_sqnr`.

    Examples
    --------
    >>> import pyqref
    >>> names = ("relu", "relu", "a", "base_op", "", "", "node_output")
    >>> logger = OutputComparisonLogger(*names, 0, 0, None)
    >>> _ = logger(pyqref.ones(1), pyqref.ones(1))
    >>> logger.comparisons
    [tensor(inf)]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.comparison_fn = compute_sqnr
        self.comparison_fn_name = "sqnr"
        self.comparisons: list[Any] = []

    def forward(self, x: Tensor, x_ref: Tensor) -> Tensor:  # type: ignore[override]
        """The first input, which is compared with the second."""
        if self.enabled:
            self.comparisons.append(self.comparison_fn(_detached(x), _detached(x_ref)))
        return super().forward(x)


def _detached(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(map(_detached, value))
    return value.detach() if hasattr(value, "detach") else value


def loggers_set_enabled(model: Module, enabled: bool) -> None:
    """Switch the loggers of a model on or off.

    Examples
    --------
    >>> import pyqref
    >>> loggers_set_enabled(pyqref.nn.Sequential(), False)  # a model without any
    """
    for each in _loggers(model):
        each.enabled = enabled


def loggers_set_save_activations(model: Module, save_activations: bool) -> None:
    """Let the loggers of a model remember values, or only comparisons.

    Examples
    --------
    >>> import pyqref
    >>> loggers_set_save_activations(pyqref.nn.Sequential(), False)  # a model without any
    """
    for each in _loggers(model):
        each.save_activations = save_activations


def _loggers(model: Module) -> list[OutputLogger]:
    return [each for each in model.modules() if isinstance(each, OutputLogger)]
