"""The detectors, under the module path that torch has for them."""

from .base import DETECTOR_IS_POST_OBS_KEY as DETECTOR_IS_POST_OBS_KEY
from .base import DETECTOR_OBS_ARGS_KEY as DETECTOR_OBS_ARGS_KEY
from .base import DETECTOR_OBS_TO_INSERT_KEY as DETECTOR_OBS_TO_INSERT_KEY
from .base import DETECTOR_TARGET_NODE_KEY as DETECTOR_TARGET_NODE_KEY
from .base import DetectorBase as DetectorBase
from .base import DetectorQConfigInfo as DetectorQConfigInfo
from .dynamic_static import DynamicStaticDetector as DynamicStaticDetector
from .equalization import InputWeightEqualizationDetector as InputWeightEqualizationDetector
from .outlier import OutlierDetector as OutlierDetector
from .per_channel import PerChannelDetector as PerChannelDetector

__all__ = [
    "DetectorBase",
    "DetectorQConfigInfo",
    "DynamicStaticDetector",
    "InputWeightEqualizationDetector",
    "OutlierDetector",
    "PerChannelDetector",
]
