"""Learning rates that change from epoch to epoch. Begin with :mod:`.scheduler`."""

from .cosine import CosineAnnealingLR as CosineAnnealingLR
from .decay import ExponentialLR as ExponentialLR
from .decay import MultiStepLR as MultiStepLR
from .decay import StepLR as StepLR
from .function import LambdaLR as LambdaLR
from .plateau import ReduceLROnPlateau as ReduceLROnPlateau
from .scheduler import LRScheduler as LRScheduler

__all__ = [
    "CosineAnnealingLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "MultiStepLR",
    "ReduceLROnPlateau",
    "StepLR",
]
