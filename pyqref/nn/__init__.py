"""Neural networks: modules, their parameters, and the functions behind them.

Read :class:`Module` first, then a layer such as ``Linear``, then
:mod:`~pyqref.nn.functional`.
"""

# --- Module and what holds modules ---
from . import init as init
from . import parameter as parameter
from . import utils as utils
from .module_path import describe_module as describe_module
from .module_path import module_path as module_path
from .modules import Flatten as Flatten
from .modules import Identity as Identity
from .modules import Module as Module
from .modules import ModuleDict as ModuleDict
from .modules import ModuleList as ModuleList
from .modules import ParameterDict as ParameterDict
from .modules import ParameterList as ParameterList
from .modules import Sequential as Sequential
from .modules import Unflatten as Unflatten
from .parameter import Parameter as Parameter

__all__ = [
    "Flatten",
    "Identity",
    "Module",
    "ModuleDict",
    "ModuleList",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "Sequential",
    "Unflatten",
    "describe_module",
    "init",
    "module_path",
    "parameter",
    "utils",
]

# --- layers ---

# --- quantization side: intrinsic, qat, quantized, quantizable ---
