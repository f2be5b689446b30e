from typing import Any

import numpy as np

def min_max(x: np.ndarray, n_threads: int) -> tuple[float, float]: ...
def min_max_per_channel(
    x: Any, axis: int, n_threads: int
) -> tuple[np.ndarray, np.ndarray] | None: ...
def histogram(
    x: np.ndarray, first: float, last: float, kept: np.ndarray, n_threads: int
) -> tuple[np.ndarray, float, float]: ...
def nested_counts(
    rows: np.ndarray, exponents: np.ndarray, bins: int, n_threads: int
) -> np.ndarray: ...
def edge_counts(x: np.ndarray, edges: np.ndarray, per_bin: float, n_threads: int) -> np.ndarray: ...
def staircase_errors(
    counts: np.ndarray,
    edges: np.ndarray,
    scales: np.ndarray,
    zero_points: np.ndarray,
    quant_min: float,
    quant_max: float,
    n_threads: int,
) -> np.ndarray: ...
def magnitude_sums(rows: np.ndarray, n_threads: int) -> np.ndarray: ...
def extremes(x: np.ndarray) -> tuple[Any, Any] | None: ...
def running_range(
    min_val: np.ndarray,
    max_val: np.ndarray,
    x: Any,
    axis: int | None,
    constant: float | None,
    n_threads: int,
) -> tuple[np.ndarray, np.ndarray] | None: ...
def fused_average(running: np.ndarray, batch: np.ndarray, constant: float) -> np.ndarray | None: ...
def choose_qparams_dynamic(
    low: np.ndarray,
    high: np.ndarray,
    quant_min: int,
    quant_max: int,
    symmetric: bool,
    single: bool,
) -> tuple[np.ndarray, np.ndarray] | None: ...
def fused_average_of_one(running: float, batch: float, constant: float) -> float: ...
def choose_qparams_of_range(
    low: float, high: float, quant_min: int, quant_max: int, single: bool
) -> tuple[float, int]: ...
