import numpy as np

def nearest(
    x: np.ndarray,
    planes: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    out: np.ndarray | None,
    n_threads: int,
) -> np.ndarray | None: ...
def bilinear(
    x: np.ndarray,
    is_signed: bool,
    zero_point: float,
    lower: float,
    upper: float,
    rows: np.ndarray,
    down: np.ndarray,
    columns: np.ndarray,
    along: np.ndarray,
    out: np.ndarray,
    n_threads: int,
) -> None: ...
def resample(
    x: np.ndarray,
    rows: np.ndarray,
    down: np.ndarray | None,
    columns: np.ndarray,
    along: np.ndarray | None,
    n_threads: int,
) -> np.ndarray: ...
