import numpy as np

def join_bags(
    table: np.ndarray,
    bits: int,
    scales: np.ndarray | None,
    offsets: np.ndarray | None,
    indices: np.ndarray,
    starts: np.ndarray | None,
    ends: np.ndarray | None,
    weights: np.ndarray | None,
    mode: int,
    out: np.ndarray,
    n_threads: int,
) -> None: ...
