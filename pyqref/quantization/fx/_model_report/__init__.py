"""Report on a prepared and calibrated model: what could be quantized differently.

``torch.ao.quantization.fx._model_report``: :class:`ModelReport` puts observers around layers,
detectors read them, and :class:`ModelReportVisualizer` shows their numbers.
"""

from .detector import DetectorBase as DetectorBase
from .detector import DetectorQConfigInfo as DetectorQConfigInfo
from .detector import DynamicStaticDetector as DynamicStaticDetector
from .detector import InputWeightEqualizationDetector as InputWeightEqualizationDetector
from .detector import OutlierDetector as OutlierDetector
from .detector import PerChannelDetector as PerChannelDetector
from .model_report import ModelReport as ModelReport
from .model_report_observer import ModelReportObserver as ModelReportObserver
from .model_report_visualizer import ModelReportVisualizer as ModelReportVisualizer

__all__ = [
    "DetectorBase",
    "DetectorQConfigInfo",
    "DynamicStaticDetector",
    "InputWeightEqualizationDetector",
    "ModelReport",
    "ModelReportObserver",
    "ModelReportVisualizer",
    "OutlierDetector",
    "PerChannelDetector",
]
