from ..tape import enable_grad as enable_grad
from ..tape import inference_mode as inference_mode
from ..tape import no_grad as no_grad
from ..tape import set_grad_enabled as set_grad_enabled
from ..tensor import Tensor
Variable = Tensor
from .differentiate import backward as backward
from .differentiate import grad as grad
from .function import Function as Function
from .function import FunctionCtx as FunctionCtx
from .gradcheck import GradcheckError as GradcheckError
from .gradcheck import gradcheck as gradcheck

# Imported when first used:
from . import functional as functional  # not in __all__
from . import profiler as profiler  # not in __all__
