from typing import Any

import numpy as np

from .pack import Weight

def linear(
    x: np.ndarray,
    x_zero_point: int,
    out: np.ndarray | np.dtype[Any],
    weight: Weight,
    n_threads: int,
) -> np.ndarray | None: ...
def linear_dynamic(
    x: np.ndarray,
    quant_max: int,
    out: np.ndarray | np.dtype[Any],
    weight: Weight,
    n_threads: int,
) -> tuple[np.ndarray, float, float] | None: ...
