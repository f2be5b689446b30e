"""The tape of automatic differentiation, on plain arrays.

Read :mod:`~pyqref.tape.operation` (what is recorded), then
:mod:`~pyqref.tape.engine` (how gradients flow back); each of the other files holds a
family of operations, forward and backward side by side.
"""

from .engine import run_backward as run_backward
from .grad_mode import enable_grad as enable_grad
from .grad_mode import inference_mode as inference_mode
from .grad_mode import is_grad_enabled as is_grad_enabled
from .grad_mode import no_grad as no_grad
from .grad_mode import set_grad_enabled as set_grad_enabled
from .operation import AccumulateGrad as AccumulateGrad
from .operation import Array as Array
from .operation import Edge as Edge
from .operation import Operation as Operation
from .operation import unbroadcast as unbroadcast

__all__ = [
    "AccumulateGrad",
    "Array",
    "Edge",
    "Operation",
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "run_backward",
    "set_grad_enabled",
    "unbroadcast",
]
