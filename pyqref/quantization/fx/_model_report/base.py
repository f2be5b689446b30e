"""Base class of the detectors of a model report."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from pyqref import nn
from pyqref._typing import Module, Node
from pyqref.quantization import observer as observers
from pyqref.quantization.qconfig import QConfig

from .model_report_observer import ModelReportObserver

__all__ = ["DetectorBase", "DetectorQConfigInfo"]

DETECTOR_TARGET_NODE_KEY = "target_node"
DETECTOR_OBS_TO_INSERT_KEY = "observer_to_insert"
DETECTOR_IS_POST_OBS_KEY = "is_post_observer"
DETECTOR_OBS_ARGS_KEY = "observer_args"

PRE = "model_report_pre_observer"
POST = "model_report_post_observer"
#: Layers with a weight per channel, by their exact class.
WEIGHTED: frozenset[type[nn.Module]] = frozenset(
    {
        nn.Linear,
        nn.Conv1d,
        nn.Conv2d,
        nn.Conv3d,
        nn.qat.Linear,
        nn.qat.Conv1d,
        nn.qat.Conv2d,
        nn.qat.Conv3d,
    }
)


class DetectorQConfigInfo:
    """Suggestions of the detectors for one module.

    Parameters
    ----------
    module_fqn
        Its path.

    Attributes
    ----------
    is_activation_dynamic, is_weight_per_channel, is_equalization_recommended : bool
        False until a detector says otherwise.

    Examples
    --------
    >>> from pyqref import nn
    >>> info = DetectorQConfigInfo("fc")
    >>> info.is_weight_per_channel = True
    >>> type(info.generate_quantization_qconfig(nn.Linear(2, 2)).weight()).__name__
    'PerChannelMinMaxObserver'
    """

    def __init__(self, module_fqn: str) -> None:
        self.module_fqn = module_fqn
        self.is_activation_dynamic = False
        self.is_weight_per_channel = False
        self.is_equalization_recommended = False

    def generate_quantization_qconfig(self, module: nn.Module) -> QConfig:
        """The qconfig that follows the suggestions."""
        weight = observers.default_weight_observer
        if self.is_weight_per_channel:
            weight = observers.default_per_channel_weight_observer
        activation = observers.default_observer
        if self.is_activation_dynamic:
            activation = observers.default_dynamic_quant_observer
        return QConfig(activation=activation, weight=weight)

    def generate_equalization_qconfig(self) -> NoReturn:
        """Refuse: nothing is equalized here.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError(
            "pyqref does not equalize inputs and weights; use the qconfig of "
            "generate_quantization_qconfig, whose weights may be per channel"
        )


class DetectorBase(ABC):
    """Look for one kind of problem in a prepared and calibrated model.

    A detector says where it wants observers, and reports what they saw. Subclasses define the
    four methods below.

    Examples
    --------
    >>> class CountsLayers(DetectorBase):
    ...     def determine_observer_insert_points(self, model):
    ...         return {}
    ...     def get_detector_name(self):
    ...         return "counter"
    ...     def get_qconfig_info(self, model):
    ...         return {}
    ...     def generate_detector_report(self, model):
    ...         return f"{len(list(model.children()))} layers", {}
    >>> from pyqref import nn
    >>> CountsLayers().generate_detector_report(nn.Sequential(nn.ReLU(), nn.ReLU()))
    ('2 layers', {})
    """

    def __init__(self) -> None:
        self.detector_config_info: Any = None

    @abstractmethod
    def determine_observer_insert_points(self, model: Module) -> dict[str, dict[str, Any]]:
        """Return by path of each observer: node, observer, whether it follows, and its input."""

    @abstractmethod
    def get_detector_name(self) -> str:
        """The name of the report."""

    @abstractmethod
    def get_qconfig_info(self, model: Module) -> dict[str, DetectorQConfigInfo]:
        """Return the suggestions for each module."""

    @abstractmethod
    def generate_detector_report(self, model: Module) -> tuple[str, dict[str, Any]]:
        """The report in words, and its numbers for each module."""

    def _get_targeting_node(self, prepared_fx_model: Any, target_fqn: str) -> Any:
        """The node that calls a module, or the fused one around it."""
        while target_fqn:
            for node in prepared_fx_model.graph.nodes:
                if node.target == target_fqn:
                    return node
            target_fqn = target_fqn.rpartition(".")[0]
        raise ValueError("no node of the graph calls the module, nor one around it")

    def _before(
        self, model: Any, wanted: Callable[[Any], bool], **options: Any
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """An observer in front of each wanted module."""
        for path, module in list(model.named_modules()):
            if path and wanted(module):
                node = self._get_targeting_node(model, path)
                yield f"{path}.{PRE}", point(node, options, is_post=False)


def point(node: Node, options: dict[str, Any], *, is_post: bool) -> dict[str, Any]:
    """One place for an observer."""
    return {
        DETECTOR_TARGET_NODE_KEY: node,
        DETECTOR_OBS_TO_INSERT_KEY: ModelReportObserver(**options),
        DETECTOR_IS_POST_OBS_KEY: is_post,
        DETECTOR_OBS_ARGS_KEY: (node,) if is_post else tuple(node.args),
    }
