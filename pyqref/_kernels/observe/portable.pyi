from typing import Any

import numpy as np

def min_max(x: np.ndarray, n_threads: int) -> tuple[float, float]: ...
def min_max_per_channel(
    x: Any, axis: int, n_threads: int
) -> tuple[np.ndarray, np.ndarray] | None: ...
def histogram(
    x: np.ndarray, first: float, last: float, counts: np.ndarray, n_threads: int
) -> tuple[float, float]: ...
def are_finite(first: np.ndarray, second: np.ndarray) -> bool: ...
def extremes(x: np.ndarray) -> tuple[Any, Any] | None: ...
def extreme_range(
    min_val: np.ndarray, max_val: np.ndarray, batch_min: np.ndarray, batch_max: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None: ...
def average_range(
    min_val: np.ndarray,
    max_val: np.ndarray,
    batch_min: np.ndarray,
    batch_max: np.ndarray,
    constant: float,
) -> tuple[np.ndarray, np.ndarray] | None: ...
def fused_average(running: np.ndarray, batch: np.ndarray, constant: float) -> np.ndarray | None: ...
def choose_qparams_dynamic(
    low: np.ndarray,
    high: np.ndarray,
    quant_min: int,
    quant_max: int,
    symmetric: bool,
    single: bool,
    smallest: float,
) -> tuple[np.ndarray, np.ndarray] | None: ...
