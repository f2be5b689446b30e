"""Arithmetic as modules, so that its results can be observed and requantized.

``a + b`` has no place for an observer or for output parameters; ``FloatFunctional``
gives it one. ``convert`` swaps it for ``QFunctional``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from pyqref import dtypes
from pyqref._typing import AnyModule, Tensor
from pyqref.nn import functional as F
from pyqref.nn.modules import Identity, Module
from pyqref.ops import quantized as ops
from pyqref.tensor import arithmetic, joining, linalg
from pyqref.tensor.arguments import described
from pyqref.tensor.base import TensorBase

from .reuse import used_before_in_this_pass, warn_of_shared_observer
from .utils import (
    load_output_parameters,
    require_output_observer,
    require_quantized_input,
    require_type,
    save_output_parameters,
)

__all__ = ["FXFloatFunctional", "FloatFunctional", "QFunctional"]

_NO_FORWARD = "{} has no forward: call one of its operations instead, such as add"


class FXFloatFunctional(Module):
    """The operations of :class:`FloatFunctional` without a place for an observer.

    In graph mode the observers are nodes of the graph.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.FXFloatFunctional()
    >>> m.add(pyqref.tensor([1.0]), pyqref.tensor([2.0]))
    tensor([3.])
    """

    def forward(self, x: Tensor) -> NoReturn:
        """Not meant to be called."""
        raise RuntimeError(_NO_FORWARD.format(type(self).__name__))

    def _observed(self, result: Any) -> Any:
        return result

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """``x + y``."""
        return self._observed(arithmetic.add(x, y))

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """``x + y`` with a number; not observed, for the integers need not change."""
        return arithmetic.add(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """``x * y``."""
        return self._observed(arithmetic.mul(x, y))

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """``x * y`` with a number; not observed, for the integers need not change."""
        return arithmetic.mul(x, y)

    def cat(self, x: Sequence[Any], dim: int = 0) -> Tensor:
        """The tensors of ``x`` one after the other along ``dim``."""
        return self._observed(joining.cat(x, dim=dim))

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """``max(x + y, 0)``."""
        return self._observed(F.relu(arithmetic.add(x, y)))

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """Matrix product of ``x`` and ``y``."""
        return self._observed(linalg.matmul(x, y))


class FloatFunctional(FXFloatFunctional):
    """Float arithmetic whose results an observer sees.

    Use one object for one place in the model: its observer collects the range of one
    result. Operations: ``add``, ``cat``, ``mul``, ``add_relu``, ``add_scalar``,
    ``mul_scalar``, ``matmul``.

    Attributes
    ----------
    activation_post_process : Module
        ``Identity`` until ``prepare`` puts an observer in its place.

    Warns
    -----
    SharedObserverWarning
        An observed object is used more than once in one forward pass, so that its
        observer mixes two tensors. The message names the path of the object.

    Raises
    ------
    RuntimeError
        It is called itself, or an operand is quantized.

    Notes
    -----
    There is no ``forward``: calling the object raises RuntimeError.

    Examples
    --------
    >>> import pyqref
    >>> f_add = pyqref.nn.quantized.FloatFunctional()
    >>> a, b = pyqref.tensor(3.0), pyqref.tensor(4.0)
    >>> f_add.add(a, b)
    tensor(7.)
    """

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process: Module = Identity()
        #: Whether an operation with a number ran, which is not observed.
        self._ran_unobserved = False

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """``x + y`` with a number; not observed, for the integers need not change."""
        self._ran_unobserved = True
        return super().add_scalar(x, y)

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """``x * y`` with a number; not observed, for the integers need not change."""
        self._ran_unobserved = True
        return super().mul_scalar(x, y)

    def _observed(self, result: Any) -> Any:
        observer = self.activation_post_process
        if not isinstance(observer, Identity) and used_before_in_this_pass(self):
            warn_of_shared_observer(self)
        return observer(result)


class QFunctional(Module):
    r"""Arithmetic on quantized tensors, with one scale and zero point for the results.

    Operations: ``add``, ``cat``, ``mul``, ``add_relu``, ``matmul``, which give results
    of ``scale`` and ``zero_point``, and ``add_scalar`` and ``mul_scalar``, which choose
    their own.

    Parameters
    ----------
    operation : str, optional
        As in the documentation of 1.4, ``QFunctional('add')``. Checked, and otherwise
        without effect: every object has every operation.

    Attributes
    ----------
    scale : float
        Of the results; 1.0 until set.
    zero_point : int
        Of the results; 0 until set.

    Raises
    ------
    ValueError
        There is no such operation.

    Notes
    -----
    Differs from torch, whose class takes no argument. See :mod:`pyqref.ops.quantized`
    for what each operation computes.

    Examples
    --------
    >>> import pyqref
    >>> q_add = pyqref.nn.quantized.QFunctional('add')
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor(3.0), 1.0, 0, pyqref.qint32)
    >>> b = pyqref.quantize_per_tensor(pyqref.tensor(4.0), 1.0, 0, pyqref.qint32)
    >>> q_add.add(a, b).dequantize()
    tensor(7.)
    """

    _OPERATIONS = ("add", "cat", "mul", "add_relu", "add_scalar", "mul_scalar", "matmul")

    def __init__(self, operation: str | None = None) -> None:
        known = isinstance(operation, str) and operation in self._OPERATIONS
        if operation is not None and not known:
            names = ", ".join(self._OPERATIONS)
            raise ValueError(
                f"QFunctional: operation must be one of {names}, got {described(operation)}"
            )
        super().__init__()
        self.scale = 1.0
        self.zero_point = 0
        self.activation_post_process: Module = Identity()

    def _get_name(self) -> str:
        return "QFunctional"

    def extra_repr(self) -> str:
        """Parameters of the results."""
        return f"scale={self.scale}, zero_point={self.zero_point}"

    def forward(self, x: Tensor) -> NoReturn:
        """Not meant to be called."""
        raise RuntimeError(_NO_FORWARD.format("QFunctional"))

    def _require_quantized(self, *tensors: Any) -> None:
        allowed = (dtypes.quint8, dtypes.qint8, dtypes.qint32)
        for each in tensors:
            if isinstance(each, TensorBase):  # the operation refuses, or records, anything else
                require_quantized_input(self, each, allowed)

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """``x + y``, requantized."""
        self._require_quantized(x, y)
        result = ops.add(x, y, scale=self.scale, zero_point=self.zero_point)
        return self.activation_post_process(result)

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """``x + y`` with a number; moves the zero point where it can."""
        self._require_quantized(x)
        return ops.add_scalar(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """``x * y``, requantized."""
        self._require_quantized(x, y)
        result = ops.mul(x, y, scale=self.scale, zero_point=self.zero_point)
        return self.activation_post_process(result)

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """``x * y`` with a number; changes the scale instead of the integers."""
        self._require_quantized(x)
        return ops.mul_scalar(x, y)

    def cat(self, x: Sequence[Any], dim: int = 0) -> Tensor:
        """The tensors of ``x`` one after the other along ``dim``, requantized."""
        if not isinstance(x, list | tuple):
            raise TypeError(f"QFunctional.cat: x must be a list of tensors, got {described(x)}")
        self._require_quantized(*x)
        result = ops.cat(x, dim=dim, scale=self.scale, zero_point=self.zero_point)
        return self.activation_post_process(result)

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """``max(x + y, 0)``, requantized."""
        self._require_quantized(x, y)
        result = ops.add_relu(x, y, scale=self.scale, zero_point=self.zero_point)
        return self.activation_post_process(result)

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """Matrix product of ``x`` and ``y``, requantized."""
        self._require_quantized(x, y)
        result = ops.matmul(x, y, scale=self.scale, zero_point=self.zero_point)
        return self.activation_post_process(result)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        save_output_parameters(self, destination, prefix)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        load_output_parameters(self, state_dict, prefix, missing_keys, dtypes.qint32)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    @classmethod
    def from_float(cls, mod: AnyModule, use_precomputed_fake_quant: bool = False) -> Module:
        """The quantized form of an observed :class:`FloatFunctional`."""
        require_type(cls, mod, (FloatFunctional,))
        scale, zero_point = require_output_observer(cls, mod).calculate_qparams()
        made = cls()
        made.scale = float(scale)
        made.zero_point = int(zero_point)
        return made
