from typing import Any

import numpy as np

def conv(
    x: np.ndarray,
    is_signed: bool,
    x_zero_point: int,
    parts: tuple[tuple[Any, ...], ...],
    weight_zero_points: np.ndarray | None,
    multiplier: np.ndarray,
    bias: np.ndarray | None,
    integer_bias: np.ndarray | None,
    bias_multiplier: float,
    zero_point: int,
    lower: int,
    upper: int,
    out: np.ndarray,
    n_threads: int,
    scale: float = 1,
    addend: tuple[float, int, float, bool] | None = None,
) -> None: ...
