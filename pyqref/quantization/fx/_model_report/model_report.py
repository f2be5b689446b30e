"""``ModelReport``: observers around the layers of a prepared model, and what they tell."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from pyqref._typing import GraphModule, Module
from pyqref.quantization.qconfig_mapping import QConfigMapping
from pyqref.tensor import Tensor, equal

from .base import (
    DETECTOR_IS_POST_OBS_KEY,
    DETECTOR_OBS_ARGS_KEY,
    DETECTOR_OBS_TO_INSERT_KEY,
    DETECTOR_TARGET_NODE_KEY,
    DetectorBase,
    DetectorQConfigInfo,
)
from .model_report_visualizer import ModelReportVisualizer

__all__ = ["ModelReport"]


class ModelReport:
    """Ask detectors what could be quantized otherwise.

    Parameters
    ----------
    model
        A graph module, as ``prepare_fx`` gives it.
    desired_report_detectors
        Detectors, one of each kind.

    Raises
    ------
    ValueError
        There is no detector, or a step is taken twice or too early.

    Notes
    -----
    Differs from torch: detectors put their observers in the order of their names, so that what is
    observed where two want the same place does not depend on the order of a set.

    Source: ``torch.ao.quantization.fx._model_report``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> from pyqref.quantization import default_qconfig, QConfigMapping
    >>> from pyqref.quantization.fx._model_report import DynamicStaticDetector
    >>> from pyqref.quantization.quantize_fx import prepare_fx
    >>> x = pyqref.randn(8, 4)
    >>> mapping = QConfigMapping().set_global(default_qconfig)
    >>> prepared = prepare_fx(nn.Sequential(nn.Linear(4, 2)).eval(), mapping, (x,))
    >>> report = ModelReport(prepared, {DynamicStaticDetector()})
    >>> calibrated = report.prepare_detailed_calibration()
    >>> _ = calibrated(x)
    >>> found = report.generate_model_report(remove_inserted_observers=True)
    >>> found["dynamic_vs_static_detector"][1]["0"]["dynamic_recommended"]
    tensor(False)
    """

    def __init__(self, model: Module, desired_report_detectors: set[DetectorBase]) -> None:
        if not desired_report_detectors:
            raise ValueError("Should include at least 1 desired report")
        self._model: Any = model
        self._desired_report_detectors = sorted(
            desired_report_detectors, key=lambda each: each.get_detector_name()
        )
        names = [each.get_detector_name() for each in self._desired_report_detectors]
        if len(set(names)) < len(names):
            raise ValueError(f"desired_report_detectors must be of different kinds, got {names}")
        self._detector_name_to_observer_fqns: dict[str, set[str]] = {each: set() for each in names}
        self._prepared_flag = False
        self._removed_observers = False
        self._generated_reports: dict[str, dict[str, Any]] = {}

    def get_desired_reports_names(self) -> set[str]:
        """The names of the detectors."""
        return set(self._detector_name_to_observer_fqns)

    def get_observers_of_interest(self) -> dict[str, set[str]]:
        """Return the paths of the observers of each detector."""
        return {name: set(each) for name, each in self._detector_name_to_observer_fqns.items()}

    def prepare_detailed_calibration(self) -> GraphModule:
        """Put the observers that the detectors want into the model, which is returned."""
        if self._prepared_flag:
            raise ValueError(
                "Already ran preparing detailed calibration. Run the report generation next after "
                "calibration."
            )
        for detector in self._desired_report_detectors:
            places = detector.determine_observer_insert_points(self._model)
            for path, place in places.items():
                self._detector_name_to_observer_fqns[detector.get_detector_name()].add(path)
                self._insert(path, place)
        self._model.recompile()
        self._prepared_flag = True
        return self._model

    def _insert(self, path: str, place: dict[str, Any]) -> None:
        """Put one observer into the graph, if none stands there yet."""
        if any(node.target == path for node in self._model.graph.nodes):
            return
        self._model.add_submodule(path, place[DETECTOR_OBS_TO_INSERT_KEY])
        node, graph = place[DETECTOR_TARGET_NODE_KEY], self._model.graph
        is_post = place[DETECTOR_IS_POST_OBS_KEY]
        where = graph.inserting_after(node) if is_post else graph.inserting_before(node)
        with where:
            graph.create_node(
                "call_module", path, place[DETECTOR_OBS_ARGS_KEY], {}, path.replace(".", "_")
            )

    def generate_model_report(
        self, remove_inserted_observers: bool
    ) -> dict[str, tuple[str, dict[str, Any]]]:
        """Return the report of each detector, in words and in numbers."""
        self._require_observers()
        reports = {}
        for detector in self._desired_report_detectors:
            name = detector.get_detector_name()
            reports[name] = detector.generate_detector_report(self._model)
            self._generated_reports[name] = reports[name][1]
        if remove_inserted_observers:
            self._remove()
        return reports

    def _require_observers(self) -> None:
        if not self._prepared_flag:
            raise ValueError(
                "the model has no observers of the report yet; call prepare_detailed_calibration() "
                "first"
            )
        if self._removed_observers:
            raise ValueError(
                "the observers of the report are removed; pass remove_inserted_observers=False to "
                "go on"
            )

    def _remove(self) -> None:
        self._removed_observers = True
        paths = set().union(*self._detector_name_to_observer_fqns.values())
        for node in list(self._model.graph.nodes):
            if node.target in paths:
                self._model.graph.erase_node(node)
        for path in paths:
            self._model.delete_submodule(path)
        self._model.recompile()

    def _reformat_reports_for_visualizer(self) -> OrderedDict[str, Any]:
        """The numbers of all reports, module by module."""
        found: OrderedDict[str, Any] = OrderedDict()
        for path, _ in self._model.named_modules():
            for report in self._generated_reports.values():
                if path not in report:
                    continue
                features = found.setdefault(path, {})
                for name, value in report[path].items():
                    if name in features and not _same(features[name], value):
                        raise ValueError(f"two reports give other values for {path}, {name}")
                    features[name] = value
        return found

    def generate_visualizer(self) -> ModelReportVisualizer:
        """Return an object that shows the numbers of the reports as tables and figures."""
        if not self._generated_reports:
            raise ValueError("there are no reports yet; call generate_model_report() first")
        return ModelReportVisualizer(self._reformat_reports_for_visualizer())

    def _infos(self) -> dict[str, DetectorQConfigInfo]:
        self._require_observers()
        found: dict[str, DetectorQConfigInfo] = {}
        for detector in self._desired_report_detectors:
            for path, new in detector.get_qconfig_info(self._model).items():
                info = found.setdefault(path, DetectorQConfigInfo(path))
                info.is_activation_dynamic |= new.is_activation_dynamic
                info.is_weight_per_channel |= new.is_weight_per_channel
                info.is_equalization_recommended |= new.is_equalization_recommended
        return found

    def generate_qconfig_mapping(self) -> QConfigMapping:
        """The qconfigs that follow all suggestions, by module."""
        mapping = QConfigMapping()
        for path, info in self._infos().items():
            module = self._model.get_submodule(path)
            mapping.set_module_name(path, info.generate_quantization_qconfig(module))
        return mapping

    def generate_equalization_mapping(self) -> QConfigMapping:
        """Refuse, where equalization is suggested: nothing is equalized here.

        Raises
        ------
        NotImplementedError
            A module would gain by it.
        """
        for info in self._infos().values():
            if info.is_equalization_recommended:
                info.generate_equalization_qconfig()
        return QConfigMapping()


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return equal(one, other)
    return bool(one == other)
