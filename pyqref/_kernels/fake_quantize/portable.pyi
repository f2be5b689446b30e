import numpy as np

def fake_quantize_per_tensor(
    x: np.ndarray,
    y: np.ndarray,
    mask: np.ndarray | None,
    scale: float,
    zero_point: float,
    quant_min: float,
    quant_max: float,
    rule: int,
    n_threads: int,
) -> None: ...
def fake_quantize_per_channel(
    x: np.ndarray,
    y: np.ndarray,
    mask: np.ndarray | None,
    scales: np.ndarray,
    zero_points: np.ndarray,
    inner: int,
    quant_min: float,
    quant_max: float,
    rule: int,
    n_threads: int,
) -> None: ...
def straight_through(
    grad: np.ndarray, mask: np.ndarray, out: np.ndarray, n_threads: int
) -> None: ...
