import numpy as np

def moments_of_channels(
    x: np.ndarray, means: np.ndarray, variances: np.ndarray, n_threads: int
) -> None: ...
def add_up(
    a: np.ndarray,
    b: np.ndarray,
    centers: np.ndarray,
    sums: np.ndarray,
    products: np.ndarray,
    n_threads: int,
) -> None: ...
def scale(
    x: np.ndarray,
    scales: np.ndarray,
    shifts: np.ndarray | None,
    out: np.ndarray,
    divides: bool,
    n_threads: int,
) -> None: ...
def gradient(
    grad: np.ndarray,
    x: np.ndarray,
    parameters: np.ndarray,
    out: np.ndarray,
    n_threads: int,
) -> None: ...
