import numpy as np

def linear(
    x: np.ndarray,
    is_signed: bool,
    x_zero_point: int,
    depth: int,
    panels: np.ndarray,
    weight_sums: np.ndarray,
    weight_zero_points: np.ndarray | None,
    multiplier: np.ndarray,
    bias: np.ndarray | None,
    integer_bias: np.ndarray | None,
    bias_multiplier: float,
    zero_point: int,
    lower: int,
    upper: int,
    out: np.ndarray,
    store: int,
    n_threads: int,
) -> None: ...
