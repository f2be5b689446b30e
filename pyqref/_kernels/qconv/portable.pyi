import numpy as np

def conv(
    x: np.ndarray,
    is_signed: bool,
    x_zero_point: int,
    geometry: tuple[int, ...],
    groups: int,
    joined: int,
    is_depthwise: bool,
    in_strips: bool,
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
    n_threads: int,
) -> None: ...
def put_channels_last(x: np.ndarray, out: np.ndarray, n_threads: int) -> None: ...
