import numpy as np

chunk_elements: int

def min_max(x: np.ndarray, lows: np.ndarray, highs: np.ndarray, n_threads: int) -> None: ...
def min_max_per_channel(
    x: np.ndarray, lows: np.ndarray, highs: np.ndarray, inner: int, n_threads: int
) -> None: ...
