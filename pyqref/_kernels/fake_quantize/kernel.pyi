from typing import Any, TypeAlias

import numpy as np

#: A result, or its type.
Room: TypeAlias = np.ndarray | np.dtype[Any]
#: The numbers and a bit for each.
Both: TypeAlias = tuple[np.ndarray, np.ndarray | None]

def is_grid(
    scales: np.ndarray, zero_points: np.ndarray, channels: int, quant_min: int, quant_max: int
) -> bool: ...
def fake_quantize_per_tensor(
    x: Any,
    out: Room,
    masked: bool,
    scale: float,
    zero_point: float,
    quant_min: float,
    quant_max: float,
    rule: int,
    n_threads: int,
) -> Both | None: ...
def fake_quantize_per_channel(
    x: Any,
    out: Room,
    masked: bool,
    scales: np.ndarray,
    zero_points: np.ndarray,
    axis: int,
    quant_min: float,
    quant_max: float,
    rule: int,
    n_threads: int,
) -> Both | None: ...
def straight_through(
    grad: Any, mask: np.ndarray, out: Room, n_threads: int
) -> np.ndarray | None: ...
def learnable_gradients(
    x: np.ndarray,
    grad: np.ndarray,
    scales: np.ndarray,
    zero_points: np.ndarray,
    quant_min: float,
    quant_max: float,
    factor: float,
    with_zero_points: bool,
    n_threads: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]: ...
