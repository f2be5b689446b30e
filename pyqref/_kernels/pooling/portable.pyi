import numpy as np

from .bands import Geometry

def max_pool(x: np.ndarray, out: np.ndarray, geometry: Geometry, n_threads: int) -> None: ...
def mean_pool(
    x: np.ndarray,
    out: np.ndarray,
    geometry: Geometry,
    zero_point: int,
    divisor: int,
    by_reciprocal: bool,
    scale: float,
    n_threads: int,
) -> None: ...
