import numpy as np

def product(
    a: np.ndarray,
    b: np.ndarray,
    start: np.ndarray | None,
    out: np.ndarray | None,
    n_threads: int,
) -> np.ndarray | None: ...
