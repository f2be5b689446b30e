"""Short forms for the lists of pattern configs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pyqref.quantization.backend_config.dtype_config import DTypeConfig
from pyqref.quantization.backend_config.observation_type import ObservationType
from pyqref.quantization.backend_config.pattern_config import BackendPatternConfig

__all__ = ["DTypes", "DIFFERENT", "NONE", "SHARED", "group", "pattern", "patterns"]

DTypes = list[DTypeConfig]

DIFFERENT = ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT
SHARED = ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT
NONE = ObservationType.INPUT_OUTPUT_NOT_OBSERVED


def pattern(
    what: object, dtypes: DTypes, observation: ObservationType = DIFFERENT
) -> BackendPatternConfig:
    """The config of one pattern, with an observer of its own behind it."""
    config = BackendPatternConfig(what).set_observation_type(observation)
    return config.set_dtype_configs(list(dtypes))


def patterns(
    many: Iterable[Any], dtypes: DTypes, observation: ObservationType = DIFFERENT
) -> list[BackendPatternConfig]:
    """Return one pattern config for each operation, with the same contents."""
    return [pattern(each, dtypes, observation) for each in many]


def group(kind: type[Any]) -> Callable[..., Any]:
    """A fuser method that puts the layers, in order, into a module of this class.

    Examples
    --------
    >>> from pyqref import nn
    >>> group(nn.intrinsic.LinearReLU)(False, nn.Linear(1, 1), nn.ReLU())[1]
    ReLU()
    """

    def fuser_method(is_qat: bool, *layers: Any) -> Any:
        return kind(*layers)

    fuser_method.__qualname__ = f"group({kind.__name__})"
    return fuser_method
