"""``BackendConfig``: what a back end can quantize, and how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyqref.quantization.arguments import as_text
from pyqref.tensor.arguments import described

from .dtype_config import DTypeConfig as DTypeConfig
from .dtype_config import DTypeWithConstraints as DTypeWithConstraints
from .observation_type import ObservationType as ObservationType
from .pattern_config import BackendPatternConfig as BackendPatternConfig
from .pattern_format import complex_format

__all__ = [
    "BackendConfig",
    "BackendPatternConfig",
    "DTypeConfig",
    "DTypeWithConstraints",
    "ObservationType",
]


class BackendConfig:
    """The patterns that can be quantized on a back end, and how reference models are made.

    A pattern is a module, a function, an operator, or a graph of those. Each is configured
    by a :class:`BackendPatternConfig`: the supported data types, how observers and
    quantize and dequantize operations are inserted, and the modules for fusion, training
    and reference. Graph mode knows nothing of operations but what stands here.

    Parameters
    ----------
    name
        The name of the back end.

    Raises
    ------
    TypeError
        What is set is no ``BackendPatternConfig``, or the name no string.
    ValueError
        ``from_dict``: a key is unknown.

    Notes
    -----
    Source: ``torch.ao.quantization.backend_config.BackendConfig``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> weighted_int8_dtype_config = DTypeConfig(
    ...     input_dtype=pyqref.quint8,
    ...     output_dtype=pyqref.quint8,
    ...     weight_dtype=pyqref.qint8,
    ...     bias_dtype=pyqref.float)
    >>> def fuse_conv2d_relu(is_qat, conv, relu):
    ...     return nn.intrinsic.ConvReLU2d(conv, relu)
    >>> linear_config = (BackendPatternConfig(nn.Linear)
    ...     .set_observation_type(ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT)
    ...     .add_dtype_config(weighted_int8_dtype_config)
    ...     .set_root_module(nn.Linear)
    ...     .set_qat_module(nn.qat.Linear))
    >>> conv_relu_config = (BackendPatternConfig((nn.Conv2d, nn.ReLU))
    ...     .add_dtype_config(weighted_int8_dtype_config)
    ...     .set_fused_module(nn.intrinsic.ConvReLU2d)
    ...     .set_fuser_method(fuse_conv2d_relu))
    >>> backend_config = (BackendConfig("my_backend")
    ...     .set_backend_pattern_config(linear_config)
    ...     .set_backend_pattern_config(conv_relu_config))
    >>> [each.pattern for each in backend_config.configs] == [nn.Linear, (nn.Conv2d, nn.ReLU)]
    True
    """

    def __init__(self, name: str = "") -> None:
        self.name = as_text(name, "name")
        self._pattern_complex_format_to_config: dict[Any, BackendPatternConfig] = {}

    def __repr__(self) -> str:
        return f"BackendConfig({vars(self)})"

    def set_name(self, name: str) -> BackendConfig:
        """Set the name of the back end."""
        self.name = as_text(name, "name")
        return self

    def set_backend_pattern_config(self, config: BackendPatternConfig) -> BackendConfig:
        """Set what can be done with a pattern, in place of what was set for it before.

        Raises
        ------
        TypeError
            ``config`` is no :class:`BackendPatternConfig`.
        ValueError
            ``config`` has no pattern.
        """
        if not isinstance(config, BackendPatternConfig):
            raise TypeError(f"config must be a BackendPatternConfig, got {described(config)}")
        self._pattern_complex_format_to_config[complex_format(config)] = config
        return self

    def set_backend_pattern_configs(self, configs: Iterable[BackendPatternConfig]) -> BackendConfig:
        """:meth:`set_backend_pattern_config` for each."""
        for config in configs:
            self.set_backend_pattern_config(config)
        return self

    @property
    def configs(self) -> list[BackendPatternConfig]:
        """A copy of the list of configs, in the order in which their patterns were first set."""
        return list(self._pattern_complex_format_to_config.values())

    @classmethod
    def from_dict(cls, backend_config_dict: Mapping[str, Any]) -> BackendConfig:
        """Make one from a dictionary, the inverse of :meth:`to_dict`.

        Parameters
        ----------
        backend_config_dict
            ``"name"``: of the back end; ``"configs"``: a list of dictionaries, each of a
            :class:`BackendPatternConfig`.

        Raises
        ------
        ValueError
            A key is unknown, or ``"configs"`` is not such a list.
        """
        unknown = [key for key in backend_config_dict if key not in ("name", "configs")]
        if unknown:
            raise ValueError(
                f'BackendConfig.from_dict knows the keys "name" and "configs", got {unknown}'
            )
        config = cls(backend_config_dict.get("name", ""))
        for each in backend_config_dict.get("configs", []):
            if isinstance(each, BackendPatternConfig):
                config.set_backend_pattern_config(each)
            elif isinstance(each, Mapping):
                config.set_backend_pattern_config(BackendPatternConfig.from_dict(each))
            else:
                raise ValueError(f'"configs" must be a list of dictionaries, got {each!r} in it')
        return config

    def to_dict(self) -> dict[str, Any]:
        """Return the config as a dictionary with the items described in :meth:`from_dict`."""
        return {"name": self.name, "configs": [each.to_dict() for each in self.configs]}
