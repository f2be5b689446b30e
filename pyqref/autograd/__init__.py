"""Gradients for users: ``backward``, ``grad``, ``Function``, ``gradcheck``."""

from typing import TYPE_CHECKING

from .._lazy import on_first_use
from ..tape import enable_grad as enable_grad
from ..tape import inference_mode as inference_mode
from ..tape import no_grad as no_grad
from ..tape import set_grad_enabled as set_grad_enabled
from ..tensor import Tensor as Variable
from .differentiate import backward as backward
from .differentiate import grad as grad
from .function import Function as Function
from .function import FunctionCtx as FunctionCtx
from .gradcheck import GradcheckError as GradcheckError
from .gradcheck import gradcheck as gradcheck

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__, {}, modules=("functional", "profiler"))

__all__ = [
    "Function",
    "FunctionCtx",
    "GradcheckError",
    "Variable",
    "backward",
    "enable_grad",
    "grad",
    "gradcheck",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
]
