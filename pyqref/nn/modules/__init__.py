"""The modules of :mod:`pyqref.nn`, one family a file. Begin with :mod:`.module`."""

# --- Module and what holds modules ---
from .container import ModuleDict as ModuleDict
from .container import ModuleList as ModuleList
from .container import Sequential as Sequential
from .module import Module as Module
from .parameter_container import ParameterDict as ParameterDict
from .parameter_container import ParameterList as ParameterList
from .shape import Flatten as Flatten
from .shape import Identity as Identity
from .shape import Unflatten as Unflatten

__all__ = [
    "Flatten",
    "Identity",
    "Module",
    "ModuleDict",
    "ModuleList",
    "ParameterDict",
    "ParameterList",
    "Sequential",
    "Unflatten",
]

# --- layers ---
