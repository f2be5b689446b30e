import numpy as np

def moments_of_channels(
    x: np.ndarray, means: np.ndarray, variances: np.ndarray, n_threads: int
) -> None: ...
def add_up(
    a: np.ndarray,
    b: np.ndarray,
    apart: bool,
    centers: np.ndarray,
    sums: np.ndarray,
    products: np.ndarray,
    n_threads: int,
) -> None: ...
def scale(
    x: np.ndarray,
    across: bool,
    scales: np.ndarray,
    shifts: np.ndarray | None,
    centers: np.ndarray | None,
    out: np.ndarray,
    divides: bool,
    n_threads: int,
) -> None: ...
def gradient(
    grad: np.ndarray,
    x: np.ndarray,
    across: bool,
    parameters: np.ndarray,
    out: np.ndarray,
    n_threads: int,
) -> None: ...
def totals_of_rows(x: np.ndarray, count: float, out: np.ndarray, n_threads: int) -> None: ...
def totals_of_columns(x: np.ndarray, out: np.ndarray, n_threads: int) -> None: ...
def totals_across(x: np.ndarray, count: float, out: np.ndarray, n_threads: int) -> None: ...
def moments_of_rows(
    x: np.ndarray, means: np.ndarray, variances: np.ndarray, n_threads: int
) -> None: ...
def moments_of_groups(
    x: np.ndarray,
    across: bool,
    groups: int,
    means: np.ndarray,
    variances: np.ndarray,
    n_threads: int,
) -> None: ...
def normalize_groups(
    x: np.ndarray,
    across: bool,
    groups: int,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    eps: float,
    means: np.ndarray,
    variances: np.ndarray,
    parameters: np.ndarray,
    out: np.ndarray,
    n_threads: int,
) -> None: ...
def normalize_rows(
    x: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    eps: float,
    has_mean: bool,
    out: np.ndarray,
    centers: np.ndarray,
    factors: np.ndarray,
    n_threads: int,
) -> None: ...
def gradient_of_rows(
    grad: np.ndarray,
    x: np.ndarray,
    weight: np.ndarray | None,
    has_mean: bool,
    centers: np.ndarray,
    factors: np.ndarray,
    out: np.ndarray,
    n_threads: int,
) -> None: ...
def gradient_of_columns(
    grad: np.ndarray,
    x: np.ndarray,
    centers: np.ndarray,
    factors: np.ndarray,
    of_weight: np.ndarray,
    of_bias: np.ndarray,
    n_threads: int,
) -> None: ...
