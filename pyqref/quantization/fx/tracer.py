"""Pass: record the model.

The layers of ``nn``, fused layers and the modules that the user names stay whole; all else is
entered::

    y = self.block(x); y.relu()                     before: Python, and modules in modules
    x -> block_0 -> block_1 -> relu -> output       after
"""

from __future__ import annotations

from typing import Any

from pyqref._typing import Module
from pyqref.fx import Tracer
from pyqref.nn.intrinsic.modules.fused import _FusedModule

from .custom_config import PrepareCustomConfig

__all__ = ["QuantizationTracer"]


class QuantizationTracer(Tracer):
    """Records a model with layers, fused layers and what the user names as leaves.

    Parameters
    ----------
    skipped_module_names, skipped_module_classes
        Modules that stay whole: standalone, custom and non-traceable ones.

    Attributes
    ----------
    called
        Paths and classes of the modules that were called.

    Examples
    --------
    >>> from pyqref import nn
    >>> model = nn.Sequential(nn.Sequential(nn.Linear(1, 1)), nn.ReLU())
    >>> [node.name for node in QuantizationTracer(["0"], []).trace(model).nodes]
    ['input_1', '_0', '_1', 'output']
    """

    def __init__(self, skipped_module_names: list[str], skipped_module_classes: list[type]) -> None:
        super().__init__()
        self.skipped_module_names = skipped_module_names
        self.skipped_module_classes = skipped_module_classes
        self.called: set[Any] = set()

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        self.called.update((module_qualified_name, type(m)))
        return (
            super().is_leaf_module(m, module_qualified_name)
            or module_qualified_name in self.skipped_module_names
            or type(m) in self.skipped_module_classes
            or isinstance(m, _FusedModule)
        )


def tracer_for(config: PrepareCustomConfig) -> QuantizationTracer:
    """The tracer that leaves whole what a custom config says."""
    custom = [each for classes in config.float_to_observed_mapping.values() for each in classes]
    return QuantizationTracer(
        [*config.non_traceable_module_names, *config.standalone_module_names],
        [*config.non_traceable_module_classes, *config.standalone_module_classes, *custom],
    )
