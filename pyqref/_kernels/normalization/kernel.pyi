import numpy as np

def layer_norm(
    x: np.ndarray,
    is_signed: bool,
    scale: float,
    eps: float,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    period: int,
    inner: int,
    inverse_out: float,
    zero_point: int,
    lower: int,
    upper: int,
    out: np.ndarray,
    n_threads: int,
    sums: np.ndarray | None = None,
    count: int = 0,
) -> None: ...
def batch_norm(
    x: np.ndarray,
    is_signed: bool,
    x_zero_point: float,
    alpha: np.ndarray,
    beta: np.ndarray,
    period: int,
    inner: int,
    zero_point: int,
    lower: int,
    upper: int,
    out: np.ndarray,
    n_threads: int,
) -> None: ...
def batch_norm_coefficients(
    mean: np.ndarray,
    variance: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    eps: float,
    input_scale: float,
    output_scale: float,
) -> np.ndarray: ...
def put_channels_first(x: np.ndarray, out: np.ndarray, n_threads: int) -> None: ...
def add_sums(x: np.ndarray, is_signed: bool, sums: np.ndarray) -> None: ...
