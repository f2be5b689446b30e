import numpy as np

def pointwise(
    function: int,
    a: np.ndarray,
    b: np.ndarray | None,
    first: float,
    second: float,
    third: float,
    out: np.ndarray | None,
    n_threads: int,
) -> np.ndarray | None: ...
def pointwise_rows(
    function: int,
    a: np.ndarray,
    b: np.ndarray | None,
    c: np.ndarray | None,
    out: np.ndarray,
    slopes: np.ndarray | None,
    n_threads: int,
) -> None: ...
def softmax(
    a: np.ndarray, b: np.ndarray | None, is_log: bool, out: np.ndarray | None, n_threads: int
) -> np.ndarray | None: ...
