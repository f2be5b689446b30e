import numpy as np

def largest(
    x: np.ndarray,
    out: np.ndarray,
    winner: np.ndarray,
    kernel: tuple[int, ...],
    geometry: tuple[int, ...],
    n_threads: int,
) -> None: ...
def means(
    x: np.ndarray,
    divisors: np.ndarray,
    out: np.ndarray,
    kernel: tuple[int, ...],
    geometry: tuple[int, ...],
    n_threads: int,
) -> None: ...
def gradient_of_largest(
    grad: np.ndarray,
    winner: np.ndarray,
    out: np.ndarray,
    kernel: tuple[int, ...],
    geometry: tuple[int, ...],
    n_threads: int,
) -> None: ...
def gradient_across(
    grad: np.ndarray,
    winner: np.ndarray | None,
    out: np.ndarray,
    kernel: tuple[int, ...],
    geometry: tuple[int, ...],
    n_threads: int,
) -> None: ...
def depthwise(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None,
    out: np.ndarray,
    sizes: tuple[int, ...],
    geometry: tuple[int, ...],
    places: tuple[int, ...],
    n_threads: int,
) -> None: ...
def depthwise_weight_gradient(
    grad: np.ndarray,
    x: np.ndarray,
    out: np.ndarray,
    sizes: tuple[int, ...],
    geometry: tuple[int, ...],
    n_threads: int,
) -> None: ...
