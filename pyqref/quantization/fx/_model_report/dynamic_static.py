"""``DynamicStaticDetector``: does the range of the data move from batch to batch?"""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref import nn

from ...._typing import Module
from .base import POST, PRE, DetectorBase, DetectorQConfigInfo, point

__all__ = ["DynamicStaticDetector"]


class DynamicStaticDetector(DetectorBase):
    r"""Suggest dynamic quantization where the data behind a layer is not stationary.

    Data is stationary where :math:`S = \overline{r_b} / R`, the mean range of a batch over the
    range of all batches, is larger than the tolerance.

    Parameters
    ----------
    tolerance
        In (0, 1).

    Raises
    ------
    ValueError
        By its report, if all numbers before or behind a layer are the same.

    Notes
    -----
    Layers: ``Linear``; convolutions are watched too, although graph mode has no dynamic form of
    them.

    Source: ``torch.ao.quantization.fx._model_report``.

    Examples
    --------
    >>> DynamicStaticDetector().get_detector_name()
    'dynamic_vs_static_detector'
    """

    DEFAULT_PRE_OBSERVER_NAME = PRE
    DEFAULT_POST_OBSERVER_NAME = POST
    STATIONARY_STR = "stationary"
    NON_STATIONARY_STR = "non-stationary"
    INPUT_ACTIVATION_PREFIX = "input_activation_"
    OUTPUT_ACTIVATION_PREFIX = "output_activation_"
    TOLERANCE_KEY = "dynamic_static_tolerance"
    DEFAULT_DYNAMIC_REC_KEY = "dynamic_recommended"
    PRE_OBS_COMP_STAT_KEY = "input_activation_dynamic_static_comp_stat"
    POST_OBS_COMP_STAT_KEY = "output_activation_dynamic_static_comp_stat"
    PRE_OBS_DATA_DIST_KEY = "input_activation_dynamic_static_data_classification"
    POST_OBS_DATA_DIST_KEY = "output_activation_dynamic_static_data_classification"
    IS_CURRENTLY_SUPPORTED_KEY = "is_dynamic_supported"
    DEFAULT_DYNAMIC_STATIC_CHECK_SUPPORTED: ClassVar[set[Any]] = {nn.Linear}
    DEFAULT_DYNAMIC_STATIC_FUTURE_SUPPORTED: ClassVar[set[Any]] = {nn.Conv1d, nn.Conv2d, nn.Conv3d}

    def __init__(self, tolerance: float = 0.5) -> None:
        super().__init__()
        self.tolerance = tolerance
        self.useful_observer_fqns: set[str] = set()

    def get_detector_name(self) -> str:
        """``"dynamic_vs_static_detector"``."""
        return "dynamic_vs_static_detector"

    def _is_supported(self, module: Any, insert: bool = False) -> bool:
        known = self.DEFAULT_DYNAMIC_STATIC_CHECK_SUPPORTED
        is_layer = type(module) in known | self.DEFAULT_DYNAMIC_STATIC_FUTURE_SUPPORTED
        return is_layer and (insert or (hasattr(module, PRE) and hasattr(module, POST)))

    def determine_observer_insert_points(
        self, prepared_fx_model: Module
    ) -> dict[str, dict[str, Any]]:
        """One observer in front of each layer, and one behind."""
        places = {}
        for path, module in list(prepared_fx_model.named_modules()):
            if path and self._is_supported(module, insert=True):
                node = self._get_targeting_node(prepared_fx_model, path)
                places[f"{path}.{PRE}"] = point(node, {}, is_post=False)
                places[f"{path}.{POST}"] = point(node, {}, is_post=True)
        self.useful_observer_fqns |= set(places)
        return places

    def get_qconfig_info(self, model: Module) -> dict[str, DetectorQConfigInfo]:
        """Dynamic activations where that is suggested."""
        found = {}
        for path, info in self._generate_dict_info(model).items():
            found[path] = DetectorQConfigInfo(path)
            found[path].is_activation_dynamic = bool(info[self.DEFAULT_DYNAMIC_REC_KEY])
        return found

    def _generate_dict_info(self, model: Any) -> dict[str, Any]:
        names = {True: self.STATIONARY_STR, False: self.NON_STATIONARY_STR}
        found = {}
        for path, module in model.named_modules():
            if not self._is_supported(module):
                continue
            before = getattr(module, PRE).get_batch_to_epoch_ratio()
            after = getattr(module, POST).get_batch_to_epoch_ratio()
            found[path] = {
                self.TOLERANCE_KEY: self.tolerance,
                self.DEFAULT_DYNAMIC_REC_KEY: after <= self.tolerance,
                self.PRE_OBS_COMP_STAT_KEY: before,
                self.PRE_OBS_DATA_DIST_KEY: names[float(before) > self.tolerance],
                self.POST_OBS_COMP_STAT_KEY: after,
                self.POST_OBS_DATA_DIST_KEY: names[float(after) > self.tolerance],
                self.IS_CURRENTLY_SUPPORTED_KEY: type(module)
                in self.DEFAULT_DYNAMIC_STATIC_CHECK_SUPPORTED,
            }
        return found

    def generate_detector_report(self, model: Module) -> tuple[str, dict[str, Any]]:
        """Return the suggestions for each layer, in words and in numbers."""
        info = self._generate_dict_info(model)
        text = "Dynamic vs. Static Quantization suggestions: \n"
        for path, each in info.items():
            before, after = each[self.PRE_OBS_DATA_DIST_KEY], each[self.POST_OBS_DATA_DIST_KEY]
            dynamic = bool(each[self.DEFAULT_DYNAMIC_REC_KEY])
            text += (
                f"For module {path} it is suggested to use {'dynamic' if dynamic else 'static'} "
                f"quantization because the distribution of data before {path} is {before} and the "
                f"distribution after is {after}. "
            )
            if dynamic:
                text += "You will get more accurate results if you use dynamic quantization."
                if not each[self.IS_CURRENTLY_SUPPORTED_KEY]:
                    text += " This layer is not yet supported for dynamic quantization."
            else:
                text += "You can increase model efficiency if you use static quantization."
                if before == self.NON_STATIONARY_STR:
                    text += (
                        " We recommend to add a dynamic quantize per tensor layer before this "
                        "module if it is static. This is because the input to this module has a "
                        "non-stationary distribution."
                    )
            text += "\n"
        return text, info
