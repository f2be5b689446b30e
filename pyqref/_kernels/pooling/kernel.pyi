import numpy as np

from .blocking import Geometry

def max_pool(
    x: np.ndarray, out: np.ndarray | None, geometry: Geometry, n_threads: int
) -> np.ndarray | None: ...
def mean_pool(
    x: np.ndarray,
    out: np.ndarray | None,
    geometry: Geometry,
    zero_point: int,
    divisor: int,
    by_reciprocal: bool,
    scale: float,
    n_threads: int,
) -> np.ndarray | None: ...
