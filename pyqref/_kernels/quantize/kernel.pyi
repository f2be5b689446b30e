from typing import Any

import numpy as np

def quantize_per_tensor(
    x: Any,
    out: np.ndarray | np.dtype[Any],
    scale: float,
    zero_point: float,
    quant_min: int,
    quant_max: int,
    n_threads: int,
) -> np.ndarray | None: ...
def quantize_per_channel(
    x: Any,
    out: np.ndarray | np.dtype[Any],
    scales: Any,
    zero_points: Any,
    axis: int,
    quant_min: int,
    quant_max: int,
    n_threads: int,
) -> np.ndarray | None: ...
def dequantize_per_tensor(
    q: Any, out: np.ndarray | np.dtype[Any], scale: float, zero_point: int, n_threads: int
) -> np.ndarray | None: ...
def dequantize_per_channel(
    q: Any,
    out: np.ndarray | np.dtype[Any],
    scales: Any,
    zero_points: Any,
    axis: int,
    n_threads: int,
) -> np.ndarray | None: ...
