import numpy as np

def max_pool(
    x: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    steps: tuple[int, int],
    out: np.ndarray,
    taps: float,
    n_threads: int,
) -> None: ...
def mean_pool(
    x: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    zero_point: int,
    divisor: int,
    by_reciprocal: bool,
    scale: float,
    taps: float,
    out: np.ndarray,
    n_threads: int,
) -> None: ...
