"""``InputWeightEqualizationDetector``: do inputs and weights of a channel differ in size?"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pyqref._typing import Module
from pyqref.tensor import from_numpy, tensor

from .base import PRE, WEIGHTED, DetectorBase, DetectorQConfigInfo

__all__ = ["InputWeightEqualizationDetector"]


class InputWeightEqualizationDetector(DetectorBase):
    r"""Find layers whose channels would gain if inputs and weights were scaled against each other.

    .. math:: s_c = \sqrt{w_c / W} \Big/ \sqrt{i_c / I}

    with the ranges of the weight and of the input in channel :math:`c`, and in all channels.
    A channel would benefit where the ratio lies between the threshold and its inverse.

    Parameters
    ----------
    ratio_threshold
        In (0, 1).
    ch_axis
        Axis of the channels of inputs and weights.

    Raises
    ------
    ValueError
        The threshold is out of its range; or, by its report, the channels of an input are no
        multiple of those of the weight.

    Notes
    -----
    Source: ``torch.ao.quantization.fx._model_report``, whose formula and threshold these are.

    Examples
    --------
    >>> InputWeightEqualizationDetector(0.5).get_detector_name()
    'input_weight_equalization_detector'
    """

    SUPPORTED_MODULES: ClassVar[set[Any]] = set(WEIGHTED)
    DEFAULT_PRE_OBSERVER_NAME = PRE
    WEIGHT_PREFIX = "weight_"
    ACTIVATION_PREFIX = "input_activation_"
    PER_CHANNEL_MAX_KEY = "per_channel_max"
    PER_CHANNEL_MIN_KEY = "per_channel_min"
    GLOBAL_MAX_KEY = "global_max"
    GLOBAL_MIN_KEY = "global_min"
    RECOMMENDED_KEY = "input_weight_equalization_recommended"
    COMP_METRIC_KEY = "input_weight_channel_comparison_metrics"
    THRESHOLD_KEY = "input_weight_threshold"
    CHANNEL_KEY = "input_weight_channel_axis"
    WEIGHT_STR = "weight"
    INPUT_STR = "input"
    DEFAULT_RECOMMEND_INPUT_WEIGHT_CHANNEL_RATIO = 0.4

    def __init__(self, ratio_threshold: float, ch_axis: int = 1) -> None:
        super().__init__()
        if not 0 < ratio_threshold < 1:
            raise ValueError(f"ratio_threshold must be > 0 and < 1, got {ratio_threshold}")
        self.ratio_threshold = ratio_threshold
        self.ch_axis = ch_axis

    def get_detector_name(self) -> str:
        """``"input_weight_equalization_detector"``."""
        return "input_weight_equalization_detector"

    def _is_supported(self, module: Any, insert: bool = False) -> bool:
        return type(module) in self.SUPPORTED_MODULES and (insert or hasattr(module, PRE))

    def determine_observer_insert_points(
        self, prepared_fx_model: object
    ) -> dict[str, dict[str, Any]]:
        """One observer in front of each linear layer and convolution."""

        def wanted(module: Any) -> bool:
            return self._is_supported(module, insert=True)

        return dict(self._before(prepared_fx_model, wanted, ch_axis=self.ch_axis))

    def get_qconfig_info(self, model: Module) -> dict[str, DetectorQConfigInfo]:
        """Equalization where many channels would benefit."""
        found = {}
        for path, info in self._generate_dict_info(model).items():
            found[path] = DetectorQConfigInfo(path)
            found[path].is_equalization_recommended = self._many(info[self.RECOMMENDED_KEY])
        return found

    def _many(self, recommended: list[bool]) -> bool:
        share = sum(recommended) / len(recommended)
        return share >= self.DEFAULT_RECOMMEND_INPUT_WEIGHT_CHANNEL_RATIO

    def _generate_dict_info(self, model: Any) -> dict[str, dict[str, Any]]:
        found = {}
        for path, module in model.named_modules():
            if not self._is_supported(module):
                continue
            seen = getattr(module, PRE)
            weight = np.asarray(module.weight.detach(), dtype=np.float32)
            channels = np.moveaxis(weight, self.ch_axis, 0).reshape(weight.shape[self.ch_axis], -1)
            ranges = {
                self.ACTIVATION_PREFIX: (np.asarray(seen.min_val), np.asarray(seen.max_val)),
                self.WEIGHT_PREFIX: (channels.min(axis=1), channels.max(axis=1)),
            }
            metric = self._comparison(path, *ranges.values())
            benefits = (metric > self.ratio_threshold) & (metric < 1 / self.ratio_threshold)
            info: dict[str, Any] = {
                self.RECOMMENDED_KEY: benefits.tolist(),
                self.COMP_METRIC_KEY: from_numpy(metric),
                self.THRESHOLD_KEY: self.ratio_threshold,
                self.CHANNEL_KEY: self.ch_axis,
            }
            for prefix, (low, high) in ranges.items():
                info[prefix + self.PER_CHANNEL_MAX_KEY] = from_numpy(high.copy())
                info[prefix + self.PER_CHANNEL_MIN_KEY] = from_numpy(low.copy())
                info[prefix + self.GLOBAL_MAX_KEY] = tensor(float(high.max()))
                info[prefix + self.GLOBAL_MIN_KEY] = tensor(float(low.min()))
            found[path] = info
        return found

    def _comparison(self, path: str, inputs: Any, weights: Any) -> Any:
        """The ratio of each channel; channels of a grouped weight are used several times."""
        ratios = []
        for low, high in (inputs, weights):
            whole = high.max() - low.min()
            if whole == 0:
                raise ValueError(
                    f"{path}: the range of all channels is 0, of its input or of its weight"
                )
            ratios.append(np.sqrt((high - low) / whole))
        ours, theirs = ratios
        if len(ours) % len(theirs):
            raise ValueError(
                f"{path}: the {len(ours)} channels of the input on axis {self.ch_axis} must be a "
                f"multiple of the {len(theirs)} of the weight"
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            return (np.tile(theirs, len(ours) // len(theirs)) / ours).astype(np.float32)

    def generate_detector_report(self, model: Module) -> tuple[str, dict[str, Any]]:
        """Tell for how many channels it would pay, in words and in numbers."""
        info = self._generate_dict_info(model)
        text = "Input-Weight Equalization suggestions: \n"
        for path, each in info.items():
            benefits = each[self.RECOMMENDED_KEY]
            share = f"{sum(benefits)}/{len(benefits)} channels"
            text += f"For Module {path} looked at with axis {self.ch_axis}: \n"
            if self._many(benefits):
                text += (
                    f"\tWe suggest to use input weight equalization because {share} would benefit "
                    "and we expect significant reduction in quantization error.\n"
                )
            else:
                text += (
                    "\tWe suggest to not use input weight equalization because we don't expect "
                    f"much improvement from input-weight equalization based on {share} "
                    "benefitting from input-weight equalization being applied.\n"
                )
        return text, info
