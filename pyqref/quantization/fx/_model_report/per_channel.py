"""``PerChannelDetector``: which weights could have a scale for each channel?"""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref._typing import Module
from pyqref.quantization.qconfig import QConfig

from .base import WEIGHTED, DetectorBase, DetectorQConfigInfo

__all__ = ["PerChannelDetector"]


class PerChannelDetector(DetectorBase):
    """Find linear layers and convolutions whose weights are quantized with one scale.

    Parameters
    ----------
    backend
        ``"fbgemm"``, ``"qnnpack"``, ``"onednn"`` or ``"x86"``.

    Raises
    ------
    ValueError
        There is no such backend.

    Notes
    -----
    Source: ``torch.ao.quantization.fx._model_report``.

    Examples
    --------
    >>> from pyqref import nn, quantization
    >>> model = nn.Sequential(nn.Linear(2, 2))
    >>> model[0].qconfig = quantization.default_qconfig
    >>> text, numbers = PerChannelDetector("fbgemm").generate_detector_report(model)
    >>> text.splitlines()[1]
    'Module 0 can be configured to use per_channel quantization.'
    """

    BACKEND_KEY = "backend"
    PER_CHAN_SUPPORTED_KEY = "per_channel_quantization_supported"
    PER_CHAN_USED_KEY = "per_channel_quantization_used"
    DEFAULT_BACKEND_PER_CHANNEL_SUPPORTED_MODULES: ClassVar[dict[str, Any]] = {
        name: set(WEIGHTED) for name in ("fbgemm", "qnnpack", "onednn", "x86")
    }

    def __init__(self, backend: str = "x86") -> None:
        super().__init__()
        if backend not in self.DEFAULT_BACKEND_PER_CHANNEL_SUPPORTED_MODULES:
            known = ", ".join(map(repr, self.DEFAULT_BACKEND_PER_CHANNEL_SUPPORTED_MODULES))
            raise ValueError(f"backend must be one of {known}, got {backend!r}")
        self.backend_chosen = backend
        self.supported_modules = self.DEFAULT_BACKEND_PER_CHANNEL_SUPPORTED_MODULES[backend]

    def get_detector_name(self) -> str:
        """``"per_channel_detector"``."""
        return "per_channel_detector"

    def determine_observer_insert_points(self, model: Module) -> dict[str, dict[str, Any]]:
        """Return an empty dict: the qconfigs say enough."""
        return {}

    def get_qconfig_info(self, model: Module) -> dict[str, DetectorQConfigInfo]:
        """Weights per channel wherever the backend has them."""
        found = {}
        for path in self._detect_per_channel_helper(model):
            found[path] = DetectorQConfigInfo(path)
            found[path].is_weight_per_channel = True
        return found

    def _detect_per_channel_helper(self, model: Any) -> dict[str, dict[str, Any]]:
        found = {}
        for path, module in model.named_modules():
            if type(module) not in self.supported_modules:
                continue
            qconfig = _qconfig_of(model, path)
            used = False
            if isinstance(qconfig, QConfig):
                qscheme = getattr(qconfig.weight(), "qscheme", None)
                used = bool(getattr(qscheme, "is_per_channel", False))
            found[path] = {
                self.PER_CHAN_SUPPORTED_KEY: True,
                self.PER_CHAN_USED_KEY: used,
                self.BACKEND_KEY: self.backend_chosen,
            }
        return found

    def generate_detector_report(self, model: Module) -> tuple[str, dict[str, Any]]:
        """Tell which layers could use a scale per channel, in words and as booleans."""
        info = self._detect_per_channel_helper(model)
        text = f"Further Optimizations for backend {self.backend_chosen}: \n"
        better = [path for path, each in info.items() if not each[self.PER_CHAN_USED_KEY]]
        for path in better:
            text += f"Module {path} can be configured to use per_channel quantization.\n"
        if better:
            text += (
                "To use per_channel quantization, make sure the qconfig has a per_channel weight "
                "observer."
            )
        else:
            text += "No further per_channel optimizations possible."
        return text, info


def _qconfig_of(model: Any, path: str) -> Any:
    """The qconfig of a module, or of the fused one around it."""
    while path:
        qconfig = getattr(model.get_submodule(path), "qconfig", None)
        if qconfig is not None:
            return qconfig
        path = path.rpartition(".")[0]
    return getattr(model, "qconfig", None)
