import numpy as np

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
    from_input: np.ndarray,
    batch_sizes: np.ndarray,
    reverse: bool,
    from_hidden: np.ndarray,
    hidden: np.ndarray,
    cell: np.ndarray | None,
    outputs: np.ndarray,
    quant_max: int,
    depth: int,
    panels: np.ndarray,
    weight_sums: np.ndarray,
    weight_zero_points: np.ndarray | None,
    weight_scales: np.ndarray,
    multiplier: np.ndarray,
    bias: np.ndarray | None,
    store: int,
    n_threads: int,
) -> tuple[float, float]: ...
