"""``OutlierDetector``: are a few numbers far larger than all the others?"""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._typing import Module
from pyqref.quantization.observer import ObserverBase
from pyqref.tensor import from_numpy

from .base import PRE, DetectorBase, DetectorQConfigInfo

__all__ = ["OutlierDetector"]


class OutlierDetector(DetectorBase):
    r"""Find channels in front of a layer whose largest number is far from the others.

    .. math:: p = \overline{\max_b / P_b}

    the mean over the batches of the largest number over a percentile; where its size is less than
    1, its inverse. Channels with :math:`p` above the threshold have outliers.

    Parameters
    ----------
    ratio_threshold
        For :math:`p`, 1 at least.
    reference_percentile
        In [0, 1].
    fraction_batches_used_threshold
        Part of the batches that must have had a ratio, in [0, 1].
    ch_axis
        Axis of the channels.

    Raises
    ------
    ValueError
        A fraction is not in its range.

    Notes
    -----
    Source: ``torch.ao.quantization.fx._model_report``.

    Examples
    --------
    >>> OutlierDetector().get_detector_name()
    'outlier_detector'
    """

    DEFAULT_PRE_OBSERVER_NAME = PRE
    INPUT_ACTIVATION_PREFIX = "input_activation_"
    OUTLIER_KEY = "outliers_detected"
    NUM_BATCHES_KEY = "outlier_detection_batches_used"
    IS_SUFFICIENT_BATCHES_KEY = "outlier_detection_is_sufficient_batches"
    COMP_METRIC_KEY = "outlier_detection_percentile_ratios"
    RATIO_THRES_KEY = "outlier_detection_ratio_threshold"
    REF_PERCENTILE_KEY = "outlier_detection_reference_percentile"
    CHANNEL_AXIS_KEY = "outlier_detection_channel_axis"
    MAX_VALS_KEY = "input_activation_per_channel_max"
    CONSTANT_COUNTS_KEY = "constant_batch_counts"

    def __init__(
        self,
        ratio_threshold: float = 3.5,
        reference_percentile: float = 0.975,
        fraction_batches_used_threshold: float = 0.95,
        ch_axis: int = 1,
    ) -> None:
        super().__init__()
        for name, value in (
            ("reference_percentile", reference_percentile),
            ("fraction_batches_used_threshold", fraction_batches_used_threshold),
        ):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must be between 0 and 1, got {value}")
        self.ratio_threshold = ratio_threshold
        self.reference_percentile = reference_percentile
        self.fraction_batches_used_threshold = fraction_batches_used_threshold
        self.ch_axis = ch_axis

    def get_detector_name(self) -> str:
        """``"outlier_detector"``."""
        return "outlier_detector"

    def _supports_insertion(self, module: Any) -> bool:
        return not list(module.children()) and not isinstance(module, ObserverBase)

    def _supports_report_gen(self, module: Any) -> bool:
        return hasattr(module, PRE)

    def determine_observer_insert_points(
        self, prepared_fx_model: object
    ) -> dict[str, dict[str, Any]]:
        """One observer in front of every module without children."""
        options = {"ch_axis": self.ch_axis, "comp_percentile": self.reference_percentile}
        return dict(self._before(prepared_fx_model, self._supports_insertion, **options))

    def get_qconfig_info(self, model: Module) -> dict[str, DetectorQConfigInfo]:
        """Return an empty dict: no qconfig cures outliers."""
        return {}

    def _generate_info_dict(self, model: Any) -> dict[str, dict[str, Any]]:
        found = {}
        for path, module in model.named_modules():
            if not self._supports_report_gen(module):
                continue
            seen = getattr(module, PRE)
            size = np.abs(np.asarray(seen.average_percentile_ratio))
            with np.errstate(divide="ignore"):
                ratio = np.where(size < 1, 1 / size, size).astype(np.float32)
            used = np.asarray(seen.percentile_batches_tracked)
            batches = max(seen.num_batches_tracked, 1)
            enough = used / batches >= self.fraction_batches_used_threshold
            found[path] = {
                self.CHANNEL_AXIS_KEY: self.ch_axis,
                self.REF_PERCENTILE_KEY: self.reference_percentile,
                self.RATIO_THRES_KEY: self.ratio_threshold,
                self.COMP_METRIC_KEY: from_numpy(ratio),
                self.NUM_BATCHES_KEY: seen.percentile_batches_tracked,
                self.OUTLIER_KEY: (ratio > self.ratio_threshold).tolist(),
                self.IS_SUFFICIENT_BATCHES_KEY: enough.tolist(),
                self.CONSTANT_COUNTS_KEY: seen.constant_channels,
                self.MAX_VALS_KEY: seen.max_val,
            }
        return found

    def generate_detector_report(self, model: Module) -> tuple[str, dict[str, Any]]:
        """Tell which channels have outliers, in words and in numbers."""
        info = self._generate_info_dict(model)
        text = "Outlier detection report: \n"
        found = False
        for path, each in info.items():
            lines = ""
            largest = each[self.MAX_VALS_KEY].tolist()
            constant = each[self.CONSTANT_COUNTS_KEY].tolist()
            for channel, outlier in enumerate(each[self.OUTLIER_KEY]):
                if outlier:
                    lines += (
                        f"\tFor channel {channel}, we found outliers in the preceding activation "
                        f"data with a max value across all batches of {largest[channel]}.\n"
                    )
                if constant[channel]:
                    lines += (
                        f"\tFor channel {channel}, we found {int(constant[channel])} constant "
                        "value batches. We recommend taking a look at the dict and data to see how "
                        "frequent this occurred and why.\n"
                    )
            if lines:
                found = True
                text += f"For Module {path} looked at with axis {self.ch_axis}: \n{lines}"
        if not found:
            return text + "There were no outliers found in the activations.\n", info
        note = (
            "Note: outlier detection is only reliable for stationary distributions. We recommend "
            "running the static vs. dynamic detector to ensure activation data before modules "
            "above is stationary to ensure the most accurate results."
        )
        return text + note, info
