"""Settings of the back ends, at their ``torch`` paths."""

from typing import TYPE_CHECKING

from .._lazy import on_first_use
from . import quantized as quantized

if TYPE_CHECKING:
    from . import cpu as cpu
    from . import cuda as cuda
    from . import cudnn as cudnn
    from . import mkl as mkl
    from . import mkldnn as mkldnn
    from . import mps as mps
    from . import openmp as openmp

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "quantized"]

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(
        __name__, {}, modules=("cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp")
    )
