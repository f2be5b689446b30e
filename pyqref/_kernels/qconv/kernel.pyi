import numpy as np

from pyqref._kernels.qgemm.finish import Finish

from .structs import Addend, InputGrid, Part

class Convolution:
    def __init__(
        self, parts: tuple[Part, ...], grid: InputGrid, finish: Finish, addend: Addend | None = None
    ) -> None: ...
    def run(self, x: np.ndarray, out: np.ndarray, n_threads: int) -> None: ...
