"""``BackendPatternConfig``: what a back end can do with one pattern of operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyqref.quantization.arguments import as_class, as_list, as_pattern
from pyqref.tensor.arguments import described

from .dtype_config import DTypeConfig
from .observation_type import ObservationType

__all__ = ["BackendPatternConfig"]

# Key in a dictionary, attribute here; in the order in which to_dict lists them.
_OPTIONAL = {
    "pattern": "pattern",
    "root_module": "root_module",
    "qat_module": "qat_module",
    "reference_quantized_module_for_root": "reference_quantized_module",
    "fused_module": "fused_module",
    "fuser_method": "fuser_method",
    "root_node_getter": "_root_node_getter",
    "extra_inputs_getter": "_extra_inputs_getter",
    "num_tensor_args_to_observation_type": "_num_tensor_args_to_observation_type",
    "input_type_to_index": "_input_type_to_index",
    "pattern_complex_format": "_pattern_complex_format",
}


class BackendPatternConfig:
    """How a pattern is quantized on a back end.

    A *pattern* is an operation: a module class, a function, or the name of a tensor's
    method; or a sequence of those as a tuple in the order in which they run, such as
    ``(nn.Conv2d, nn.BatchNorm2d, nn.ReLU)``.

    Parameters
    ----------
    pattern
        The pattern. None if :meth:`_set_pattern_complex_format` gives one.

    Attributes
    ----------
    observation_type
        Which observer stands behind the pattern.
    dtype_configs
        The combinations of data types that the back end supports.
    root_module
        The float module class that holds the weight.
    qat_module
        What replaces the pattern for quantization-aware training.
    reference_quantized_module
        What replaces the root module in the reference model.
    fused_module, fuser_method
        Into what the pattern is fused, and by which function, called as
        ``fuser_method(is_qat, *modules)``.

    Raises
    ------
    TypeError
        A ``dtype_config`` or ``observation_type`` is of another type, a pattern is no
        operation, a module is no class, or what fuses is no function.
    ValueError
        ``from_dict``: a key is unknown.

    Notes
    -----
    Source: ``torch.ao.quantization.backend_config.BackendPatternConfig``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> int8 = DTypeConfig(pyqref.quint8, pyqref.quint8, pyqref.qint8, pyqref.float)
    >>> config = (BackendPatternConfig(nn.Linear)
    ...     .set_observation_type(ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT)
    ...     .add_dtype_config(int8)
    ...     .set_root_module(nn.Linear))
    >>> config.root_module.__name__, len(config.dtype_configs)
    ('Linear', 1)
    """

    def __init__(self, pattern: object = None) -> None:
        self.pattern: Any = _optional(as_pattern, pattern, "pattern")
        self.observation_type = ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT
        self.dtype_configs: list[DTypeConfig] = []
        self.root_module: Any = None
        self.qat_module: Any = None
        self.reference_quantized_module: Any = None
        self.fused_module: Any = None
        self.fuser_method: Callable[..., Any] | None = None
        self._root_node_getter: Callable[..., Any] | None = None
        self._extra_inputs_getter: Callable[..., Any] | None = None
        self._num_tensor_args_to_observation_type: dict[int, ObservationType] = {}
        self._input_type_to_index: dict[str, int] = {}
        self._pattern_complex_format: Any = None

    def __repr__(self) -> str:
        items = {name: each for name, each in vars(self).items() if each not in (None, [], {})}
        return f"BackendPatternConfig({items})"

    def set_pattern(self, pattern: object) -> BackendPatternConfig:
        """Set the pattern.

        Raises
        ------
        ValueError
            One in the complex format is set already.
        """
        if self._pattern_complex_format is not None:
            raise ValueError("Only one of 'pattern' or 'pattern_complex_format' can be set")
        self.pattern = _optional(as_pattern, pattern, "pattern")
        return self

    def set_observation_type(self, observation_type: ObservationType) -> BackendPatternConfig:
        """Set which observer stands behind the pattern."""
        if not isinstance(observation_type, ObservationType):
            raise TypeError(
                f"observation_type must be an ObservationType, got {observation_type!r}"
            )
        self.observation_type = observation_type
        return self

    def add_dtype_config(self, dtype_config: DTypeConfig) -> BackendPatternConfig:
        """Add a supported combination of data types."""
        self.dtype_configs.append(_dtype_config_itself(dtype_config, "dtype_config"))
        return self

    def set_dtype_configs(self, dtype_configs: list[DTypeConfig]) -> BackendPatternConfig:
        """Set all supported combinations of data types, in place of those set before."""
        self.dtype_configs = as_list(dtype_configs, "dtype_configs", _dtype_config_itself)
        return self

    def set_root_module(self, root_module: type[Any]) -> BackendPatternConfig:
        """Set the float module class that holds the weight of the pattern.

        For ``nn.intrinsic.ConvReLU2d`` it is ``nn.Conv2d``.
        """
        self.root_module = _optional(as_class, root_module, "root_module")
        return self

    def set_qat_module(self, qat_module: type[Any]) -> BackendPatternConfig:
        """Set what replaces the pattern for quantization-aware training."""
        self.qat_module = _optional(as_class, qat_module, "qat_module")
        return self

    def set_reference_quantized_module(
        self, reference_quantized_module: type[Any]
    ) -> BackendPatternConfig:
        """Set what replaces the root module in the reference model."""
        self.reference_quantized_module = _optional(
            as_class, reference_quantized_module, "reference_quantized_module"
        )
        return self

    def set_fused_module(self, fused_module: type[Any]) -> BackendPatternConfig:
        """Set into what class the pattern is fused."""
        self.fused_module = _optional(as_class, fused_module, "fused_module")
        return self

    def set_fuser_method(self, fuser_method: Callable[..., Any]) -> BackendPatternConfig:
        """Set the function that fuses.

        It is called as ``fuser_method(is_qat, conv, relu)`` for the pattern
        ``(nn.Conv2d, nn.ReLU)``. For a pattern in the complex format its arguments are
        nested as the pattern is.
        """
        self.fuser_method = _optional(_function, fuser_method, "fuser_method")
        return self

    def _set_root_node_getter(self, root_node_getter: Callable[..., Any]) -> BackendPatternConfig:
        """Set how to find the node of the root module among the matched nodes."""
        self._root_node_getter = _optional(_function, root_node_getter, "root_node_getter")
        return self

    def _set_extra_inputs_getter(
        self, extra_inputs_getter: Callable[..., Any]
    ) -> BackendPatternConfig:
        """Set how to find inputs of the fused module beyond those of the root module."""
        self._extra_inputs_getter = _optional(_function, extra_inputs_getter, "extra_inputs_getter")
        return self

    def _set_num_tensor_args_to_observation_type(
        self, num_tensor_args_to_observation_type: dict[int, ObservationType]
    ) -> BackendPatternConfig:
        """Set the observation type by the number of tensors among the arguments.

        ``x + 1`` shares the observer of ``x``, ``x + y`` has its own.
        """
        self._num_tensor_args_to_observation_type = num_tensor_args_to_observation_type
        return self

    def _set_input_type_to_index(self, input_type_to_index: dict[str, int]) -> BackendPatternConfig:
        """Set which argument of a function is its ``"weight"``, ``"bias"`` or ``"input"``."""
        self._input_type_to_index = input_type_to_index
        return self

    def _set_pattern_complex_format(self, pattern: Any) -> BackendPatternConfig:
        """Set a pattern as a graph, read from its output.

        ``(operation, input1, input2)`` where inputs are patterns again, for example
        ``(nn.ReLU, (operator.add, (nn.BatchNorm2d, nn.Conv2d), MatchAllNode))``.

        Raises
        ------
        ValueError
            A pattern is set already.
        """
        if self.pattern is not None:
            raise ValueError("Only one of 'pattern' or 'pattern_complex_format' can be set")
        self._pattern_complex_format = as_pattern(pattern, "pattern")
        return self

    @classmethod
    def from_dict(cls, backend_pattern_config_dict: Mapping[str, Any]) -> BackendPatternConfig:
        """Make one from a dictionary, the inverse of :meth:`to_dict`.

        Parameters
        ----------
        backend_pattern_config_dict
            All optional: ``"pattern"``, ``"observation_type"``, ``"dtype_configs"`` (a list of
            dictionaries or :class:`DTypeConfig`), ``"root_module"``, ``"qat_module"``,
            ``"reference_quantized_module_for_root"``, ``"fused_module"``, ``"fuser_method"``,
            ``"root_node_getter"``, ``"extra_inputs_getter"``,
            ``"num_tensor_args_to_observation_type"``, ``"input_type_to_index"``,
            ``"pattern_complex_format"``.

        Raises
        ------
        ValueError
            A key is unknown, or ``"dtype_configs"`` is not such a list.
        """
        config = cls()
        for key, value in backend_pattern_config_dict.items():
            if key == "observation_type":
                config.set_observation_type(value)
            elif key == "dtype_configs":
                config.dtype_configs = [_dtype_config(each) for each in _listed(value)]
            elif key in _OPTIONAL:
                check = _CHECKS.get(key)
                checked = value if check is None else _optional(check, value, key)
                setattr(config, _OPTIONAL[key], checked)
            else:
                known = ["observation_type", "dtype_configs", *_OPTIONAL]
                raise ValueError(
                    f"BackendPatternConfig.from_dict knows the keys {known}, got {key!r}"
                )
        return config

    def to_dict(self) -> dict[str, Any]:
        """Return the config as a dictionary with the items described in :meth:`from_dict`."""
        found: dict[str, Any] = {
            "observation_type": self.observation_type,
            "dtype_configs": [each.to_dict() for each in self.dtype_configs],
        }
        for key, name in _OPTIONAL.items():
            value = getattr(self, name)
            if value not in (None, {}):
                found[key] = value
        return found


def _optional(check: Callable[[Any, str], Any], value: Any, name: str) -> Any:
    return None if value is None else check(value, name)


def _function(value: Any, name: str) -> Any:
    if not callable(value):
        raise TypeError(f"{name} must be a function, got {described(value)}")
    return value


def _dtype_config_itself(value: Any, name: str) -> DTypeConfig:
    if not isinstance(value, DTypeConfig):
        raise TypeError(f"{name} must be a DTypeConfig, got {described(value)}")
    return value


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise ValueError(f'"dtype_configs" must be a list of DTypeConfigs, got {value!r}')
    return list(value)


def _dtype_config(value: Any) -> DTypeConfig:
    if isinstance(value, DTypeConfig):
        return value
    if isinstance(value, Mapping):
        return DTypeConfig.from_dict(value)
    raise ValueError(f'"dtype_configs" must be a list of DTypeConfigs, got {value!r} in it')


# How from_dict checks the values that the setters check.
_CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "pattern": as_pattern,
    "pattern_complex_format": as_pattern,
    "root_module": as_class,
    "qat_module": as_class,
    "reference_quantized_module_for_root": as_class,
    "fused_module": as_class,
    "fuser_method": _function,
    "root_node_getter": _function,
    "extra_inputs_getter": _function,
}
