from typing import Any

import numpy as np

def add(
    a: np.ndarray,
    b: np.ndarray,
    out: np.ndarray,
    scale_a: float,
    zero_point_a: int,
    scale_b: float,
    zero_point_b: int,
    scale: float,
    zero_point: int,
    lower: int,
    upper: int,
    n_threads: int,
) -> None: ...
def add_fixed_point(
    a: np.ndarray,
    b: np.ndarray,
    out: np.ndarray,
    factors: tuple[int, int, int, int],
    shift: int,
    zero_point: int,
    lower: int,
    upper: int,
    n_threads: int,
) -> None: ...
def mul(
    a: np.ndarray,
    b: np.ndarray,
    out: np.ndarray,
    scale_a: float,
    zero_point_a: int,
    scale_b: float,
    zero_point_b: int,
    scale: float,
    zero_point: int,
    lower: int,
    upper: int,
    n_threads: int,
) -> None: ...
def look_up(
    table: np.ndarray, q: np.ndarray, out: np.ndarray | np.dtype[Any], n_threads: int
) -> np.ndarray | None: ...
def clamp(
    q: np.ndarray, out: np.ndarray | None, lower: int, upper: int, n_threads: int
) -> np.ndarray | None: ...
def cat(
    parts: tuple[np.ndarray, ...],
    tables: tuple[np.ndarray | None, ...] | None,
    axis: int,
    n_threads: int,
) -> np.ndarray | None: ...
def take(
    x: np.ndarray,
    sizes: tuple[int, int, int, int, int],
    places: tuple[np.ndarray, np.ndarray, np.ndarray],
    border: np.ndarray | None,
    n_threads: int,
) -> np.ndarray: ...
def arranged(x: np.ndarray, in_c_order: bool, n_threads: int) -> np.ndarray | None: ...
