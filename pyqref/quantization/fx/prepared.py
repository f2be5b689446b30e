"""Prepared graphs: calibrated in evaluation mode, trained in the other."""

from __future__ import annotations

from pyqref._typing import Tensor
from pyqref.nn.modules.batchnorm import BatchNormBase
from pyqref.nn.modules.dropout import _Dropout
from pyqref.quantization.diagnostics import WrongModeWarning, warn

from .failures import TellingGraphModule
from .observed import is_calibrated

__all__ = ["PreparedGraphModule"]


class PreparedGraphModule(TellingGraphModule):
    """A model with observers, which warns once of a calibration in training mode."""

    def __call__(self, *args: Tensor, **kwargs: object) -> Tensor:
        if self.training and is_calibrated(self) and "_mode_is_told" not in self.__dict__:
            self.__dict__["_mode_is_told"] = True
            self._warn_of_training_mode()
        return super().__call__(*args, **kwargs)

    def _warn_of_training_mode(self) -> None:
        moving = [
            f"{path!r} ({type(each).__name__})"
            for path, each in self.named_modules()
            if each.training and isinstance(each, BatchNormBase | _Dropout)
        ]
        if moving:
            warn(
                "the model that prepare_fx returned is calibrated in training mode, where "
                f"{moving[0]} gives other values than in use; call eval() on it before "
                "calibration, or use prepare_qat_fx to train it",
                WrongModeWarning,
            )
