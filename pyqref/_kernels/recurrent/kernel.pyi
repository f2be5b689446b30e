from typing import Any, TypeAlias

import numpy as np

Weight: TypeAlias = tuple[int, tuple[Any, ...]]

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
    of_input: Weight,
    of_hidden: Weight,
    from_input: np.ndarray,
    from_hidden: np.ndarray,
    hidden: np.ndarray,
    cell: np.ndarray | None,
    outputs: np.ndarray,
    n_threads: int,
) -> tuple[float, float, bool]: ...
