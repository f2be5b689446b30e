"""Learning rates that change from epoch to epoch. Begin with :mod:`.scheduler`."""

from .combined import ChainedScheduler as ChainedScheduler
from .combined import SequentialLR as SequentialLR
from .cosine import CosineAnnealingLR as CosineAnnealingLR
from .cyclic import CyclicLR as CyclicLR
from .decay import ExponentialLR as ExponentialLR
from .decay import MultiStepLR as MultiStepLR
from .decay import StepLR as StepLR
from .function import LambdaLR as LambdaLR
from .multiplicative import MultiplicativeLR as MultiplicativeLR
from .one_cycle import OneCycleLR as OneCycleLR
from .plateau import ReduceLROnPlateau as ReduceLROnPlateau
from .ramps import ConstantLR as ConstantLR
from .ramps import LinearLR as LinearLR
from .ramps import PolynomialLR as PolynomialLR
from .scheduler import LRScheduler as LRScheduler
from .warm_restarts import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
