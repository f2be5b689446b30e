from typing import TypeAlias

import numpy as np

from pyqref._kernels.qgemm.pack import Weight

MostAndWeight: TypeAlias = tuple[int, Weight]

def recurrent_step(
    kind: int,
    from_input: np.ndarray,
    from_hidden: np.ndarray,
    hidden: np.ndarray,
    cell: np.ndarray | None,
    n_threads: int,
) -> None: ...
def recurrent_layer(
    kind: int,
    x: np.ndarray,
    grid: tuple[float, int] | None,
    batch_sizes: np.ndarray,
    reverse: bool,
    of_input: MostAndWeight,
    of_hidden: MostAndWeight,
    from_input: np.ndarray,
    from_hidden: np.ndarray,
    hidden: np.ndarray,
    cell: np.ndarray | None,
    outputs: np.ndarray,
    n_threads: int,
) -> tuple[float, float, bool]: ...
def recurrent_floats(
    kind: int,
    from_input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None,
    batch_sizes: np.ndarray,
    reverse: bool,
    from_hidden: np.ndarray,
    hidden: np.ndarray,
    cell: np.ndarray | None,
    cells: np.ndarray | None,
    outputs: np.ndarray,
    n_threads: int,
) -> None: ...
