import numpy as np

def attention(
    queries: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray,
    bias: np.ndarray | None,
    is_causal: bool,
    scale: float,
    out: np.ndarray,
    n_threads: int,
) -> None: ...
