"""Knowledge of the checker about each exercise: answer, mistakes, drawn cases, traits.

A model answer is a text, and a mistake is a change of it. Two changes at once make the mistakes
that come in pairs. Reading order: :mod:`.model`, :mod:`.parts`, then a file for each group
of exercises.
"""

from __future__ import annotations

from .affine import DEQUANTIZE, QUANTIZE
from .averages import MOVING_AVERAGE_OBSERVER
from .channels import QUANTIZE_PER_CHANNEL
from .dynamic import LINEAR_DYNAMIC
from .folding import FOLD_BATCH_NORM
from .fusing import FUSE
from .graphs import MATCH_PATTERNS
from .kernels import PACK_WEIGHT, ROOFLINE
from .layers import ACCUMULATE
from .model import Library
from .networks import QUANTIZED_ADD
from .noises import SPARE_LAYERS
from .observers import MIN_MAX_OBSERVER
from .ranges import AFFINE_QPARAMS
from .requantizing import REQUANTIZE
from .symmetric import SYMMETRIC_SCALE
from .training import FAKE_QUANTIZE

__all__ = ["LIBRARIES", "Library"]

LIBRARIES: dict[str, Library] = {
    each.exercise: each
    for each in (
        QUANTIZE,
        DEQUANTIZE,
        AFFINE_QPARAMS,
        SYMMETRIC_SCALE,
        MIN_MAX_OBSERVER,
        MOVING_AVERAGE_OBSERVER,
        QUANTIZE_PER_CHANNEL,
        ACCUMULATE,
        REQUANTIZE,
        FOLD_BATCH_NORM,
        FUSE,
        QUANTIZED_ADD,
        SPARE_LAYERS,
        FAKE_QUANTIZE,
        LINEAR_DYNAMIC,
        MATCH_PATTERNS,
        PACK_WEIGHT,
        ROOFLINE,
    )
}
