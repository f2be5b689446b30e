import numpy as np

from .structs import Addend, Finish, InputGrid, Part

class Convolution:
    def __init__(
        self, parts: tuple[Part, ...], grid: InputGrid, finish: Finish, addend: Addend | None = None
    ) -> None: ...
    def run(self, x: np.ndarray, out: np.ndarray, n_threads: int) -> None: ...
