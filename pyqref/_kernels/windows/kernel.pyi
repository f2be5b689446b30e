import numpy as np

def transpose(x: np.ndarray, out: np.ndarray, n_threads: int) -> None: ...
def unfold_rows(
    images: np.ndarray, rows: np.ndarray, geometry: tuple[int, ...], n_threads: int
) -> None: ...
def fold_rows(
    rows: np.ndarray, images: np.ndarray, geometry: tuple[int, ...], n_threads: int
) -> None: ...
def largest(
    x: np.ndarray,
    out: np.ndarray,
    winner: np.ndarray,
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
def has_products() -> bool: ...
def multiply_windows(
    images: np.ndarray,
    filters: np.ndarray,
    out: np.ndarray,
    windows: tuple[int, ...],
    geometry: tuple[int, ...],
    step: int,
    n_threads: int,
) -> None: ...
def multiply_columns(
    images: np.ndarray,
    filters: np.ndarray,
    bias: np.ndarray | None,
    out: np.ndarray,
    windows: tuple[int, ...],
    geometry: tuple[int, ...],
    are_pixels: bool,
    step: int,
    share: int,
    n_threads: int,
) -> None: ...
def gradients_of_products(
    grad: np.ndarray,
    filters: np.ndarray | None,
    grad_images: np.ndarray | None,
    images: np.ndarray | None,
    sums: np.ndarray | None,
    windows: tuple[int, ...],
    geometry: tuple[int, ...],
    step: int,
    n_threads: int,
) -> None: ...
def depthwise(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None,
    out: np.ndarray,
    sizes: tuple[int, ...],
    geometry: tuple[int, ...],
    n_threads: int,
) -> None: ...
def depthwise_gradient(
    grad: np.ndarray,
    weight: np.ndarray,
    out: np.ndarray,
    sizes: tuple[int, ...],
    geometry: tuple[int, ...],
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
