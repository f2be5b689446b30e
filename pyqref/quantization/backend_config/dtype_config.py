"""``DTypeConfig``: the data types for which a back end has an operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyqref.dtypes import dtype as DType
from pyqref.tensor.arguments import as_flag, as_integer, as_number, described

__all__ = ["DTypeConfig", "DTypeWithConstraints"]


@dataclass
class DTypeWithConstraints:
    """A data type, and what a back end asks of the parameters it is used with.

    Parameters
    ----------
    dtype
        The data type.
    quant_min_lower_bound, quant_max_upper_bound
        The observer's range of integers must lie within these.
    scale_min_lower_bound, scale_max_upper_bound
        The smallest and the largest possible scale. The smallest is the ``eps`` of the
        observer, which therefore must be at least the lower bound.
    scale_exact_match, zero_point_exact_match
        The one scale and zero point of an operation with fixed parameters; they must be
        those of a ``FixedQParamsObserver``.

    Raises
    ------
    TypeError
        The type is no dtype, a bound or a scale no number, or a zero point no integer.

    Notes
    -----
    Source: ``torch.ao.quantization.backend_config.DTypeWithConstraints``.

    Examples
    --------
    >>> import pyqref
    >>> DTypeWithConstraints(dtype=pyqref.qint8, quant_min_lower_bound=-127).dtype
    pyqref.qint8
    """

    dtype: DType | None = None
    quant_min_lower_bound: int | float | None = None
    quant_max_upper_bound: int | float | None = None
    scale_min_lower_bound: int | float | None = None
    scale_max_upper_bound: int | float | None = None
    scale_exact_match: float | None = None
    zero_point_exact_match: int | None = None

    def __post_init__(self) -> None:
        """Check the types of all."""
        _check_dtype(self.dtype, "dtype")
        for name in _BOUNDS:
            if getattr(self, name) is not None:
                as_number(getattr(self, name), name)
        if self.zero_point_exact_match is not None:
            as_integer(self.zero_point_exact_match, "zero_point_exact_match")


@dataclass
class DTypeConfig:
    """Types that an operation supports for its input, output, weight and bias.

    Consider the reference model

    .. code-block:: text

        quant1 - [dequant1 - fp32_linear - quant2] - dequant2

    where the part in brackets stands for a quantized linear layer. ``input_dtype=quint8``
    says that ``quant1`` quantizes to quint8, ``output_dtype=quint8`` that ``quant2`` does.
    These are the types of the *observers*, not those of the tensors at the interface: of
    a dynamically quantized layer, whose tensors are float on both sides, ``input_dtype``
    is quint8 all the same.

    The types are compared with those of the user's ``QConfig``. Where they agree and the
    constraints hold the pattern is quantized so; otherwise the ``QConfig`` is ignored and
    the pattern stays float.

    Parameters
    ----------
    input_dtype, output_dtype, weight_dtype
        A type, or one with constraints; None if it does not matter.
    bias_dtype
        The type of the bias.
    is_dynamic
        Whether the input is quantized when the model runs.

    Attributes
    ----------
    input_dtype_with_constraints, output_dtype_with_constraints, weight_dtype_with_constraints
        The types as :class:`DTypeWithConstraints`.

    Raises
    ------
    TypeError
        A type is no dtype, or ``is_dynamic`` no flag.

    Notes
    -----
    Source: ``torch.ao.quantization.backend_config.DTypeConfig``.

    Examples
    --------
    >>> import pyqref
    >>> dtype_config1 = DTypeConfig(
    ...     input_dtype=pyqref.quint8,
    ...     output_dtype=pyqref.quint8,
    ...     weight_dtype=pyqref.qint8,
    ...     bias_dtype=pyqref.float)
    >>> dtype_config1.input_dtype
    pyqref.quint8
    >>> dtype_config2 = DTypeConfig(input_dtype=DTypeWithConstraints(
    ...     dtype=pyqref.quint8, quant_min_lower_bound=0, quant_max_upper_bound=255))
    >>> dtype_config2.input_dtype
    pyqref.quint8
    >>> dtype_config2.input_dtype_with_constraints.quant_max_upper_bound
    255
    """

    input_dtype_with_constraints: DTypeWithConstraints
    output_dtype_with_constraints: DTypeWithConstraints
    weight_dtype_with_constraints: DTypeWithConstraints
    bias_dtype: DType | None
    is_dynamic: bool | None

    def __init__(
        self,
        input_dtype: DType | DTypeWithConstraints | None = None,
        output_dtype: DType | DTypeWithConstraints | None = None,
        weight_dtype: DType | DTypeWithConstraints | None = None,
        bias_dtype: DType | None = None,
        is_dynamic: bool | None = None,
    ) -> None:
        self.input_dtype_with_constraints = _constrained("input_dtype", input_dtype)
        self.output_dtype_with_constraints = _constrained("output_dtype", output_dtype)
        self.weight_dtype_with_constraints = _constrained("weight_dtype", weight_dtype)
        _check_dtype(bias_dtype, "bias_dtype")
        self.bias_dtype = bias_dtype
        self.is_dynamic = None if is_dynamic is None else as_flag(is_dynamic, "is_dynamic")

    @property
    def input_dtype(self) -> DType | None:
        """The type of the input, without constraints."""
        return self.input_dtype_with_constraints.dtype

    @property
    def output_dtype(self) -> DType | None:
        """The type of the output, without constraints."""
        return self.output_dtype_with_constraints.dtype

    @property
    def weight_dtype(self) -> DType | None:
        """The type of the weight, without constraints."""
        return self.weight_dtype_with_constraints.dtype

    @classmethod
    def from_dict(cls, dtype_config_dict: Mapping[str, Any]) -> DTypeConfig:
        """Make one from a dictionary, the inverse of :meth:`to_dict`.

        Parameters
        ----------
        dtype_config_dict
            All optional: ``"input_dtype"``, ``"output_dtype"``, ``"weight_dtype"`` (dtype or
            DTypeWithConstraints), ``"bias_dtype"`` (also under its documented name
            ``"bias_type"``), ``"is_dynamic"`` (bool).

        Raises
        ------
        ValueError
            There are other keys.
        """
        _check_keys(dtype_config_dict)
        given = dict(dtype_config_dict)
        bias = given.pop("bias_type", None)
        return cls(**{"bias_dtype": bias, **given})

    def to_dict(self) -> dict[str, Any]:
        """Return the config as a dictionary with the items described in :meth:`from_dict`.

        Examples
        --------
        >>> import pyqref
        >>> list(DTypeConfig(bias_dtype=pyqref.float, is_dynamic=True).to_dict().items())
        [('bias_dtype', pyqref.float32), ('is_dynamic', True)]
        """
        found: dict[str, Any] = {}
        for name in ("input_dtype", "output_dtype", "weight_dtype"):
            constrained = getattr(self, f"{name}_with_constraints")
            if constrained.dtype is not None:
                found[name] = constrained
        if self.bias_dtype is not None:
            found["bias_dtype"] = self.bias_dtype
        if self.is_dynamic is not None:
            found["is_dynamic"] = self.is_dynamic
        return found


_KEYS = ("input_dtype", "output_dtype", "weight_dtype", "bias_dtype", "bias_type", "is_dynamic")


def _check_keys(given: Mapping[str, Any]) -> None:
    if not isinstance(given, Mapping):
        raise TypeError(f"DTypeConfig.from_dict takes a dictionary, got {given!r}")
    unknown = [key for key in given if key not in _KEYS]
    if unknown:
        raise ValueError(f"DTypeConfig.from_dict knows the keys {_KEYS}, got {unknown}")


_BOUNDS = (
    "quant_min_lower_bound",
    "quant_max_upper_bound",
    "scale_min_lower_bound",
    "scale_max_upper_bound",
    "scale_exact_match",
)


def _check_dtype(value: Any, name: str) -> None:
    if value is not None and not isinstance(value, DType):
        raise TypeError(f"{name} must be a dtype, got {described(value)}")


def _constrained(name: str, value: Any) -> DTypeWithConstraints:
    if isinstance(value, DTypeWithConstraints):
        return value
    if value is not None and not isinstance(value, DType):
        raise TypeError(f"{name} must be a dtype or a DTypeWithConstraints, got {described(value)}")
    return DTypeWithConstraints(dtype=value)
