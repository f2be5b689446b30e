import numpy as np

def product(
    a: np.ndarray, b: np.ndarray, start: np.ndarray | None, out: np.ndarray, n_threads: int
) -> None: ...
