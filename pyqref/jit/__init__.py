"""Models as files: ``script``, ``trace``, ``save`` and ``load``, without a compiler.

``script`` and ``trace`` return a copy of the model that runs as Python; ``save`` writes it, its
structure included, to a file in pyqref's own format, and ``load`` reads it. No code lies in
the file: the classes of the model must be there when it is loaded.

Examples
--------
>>> import io, pyqref
>>> from pyqref import nn
>>> model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
>>> file = io.BytesIO()
>>> pyqref.jit.save(pyqref.jit.script(model), file)
>>> _ = file.seek(0)
>>> loaded = pyqref.jit.load(file)
>>> x = pyqref.randn(3, 2)
>>> pyqref.equal(model(x), loaded(x))
True
"""

from . import annotations as annotations
from .files import load as load
from .files import save as save
from .marks import Attribute as Attribute
from .marks import Final as Final
from .marks import annotate as annotate
from .marks import export as export
from .marks import ignore as ignore
from .marks import interface as interface
from .marks import is_scripting as is_scripting
from .marks import isinstance_ as isinstance
from .marks import overload_method as _overload_method
from .marks import script_method as script_method
from .marks import unused as unused
from .passes import enable_onednn_fusion as enable_onednn_fusion
from .passes import freeze as freeze
from .passes import fuser as fuser
from .passes import onednn_fusion_enabled as onednn_fusion_enabled
from .passes import optimize_for_inference as optimize_for_inference
from .passes import optimized_execution as optimized_execution
from .passes import run_frozen_optimizations as run_frozen_optimizations
from .passes import set_fusion_strategy as set_fusion_strategy
from .script_module import RecursiveScriptModule as RecursiveScriptModule
from .script_module import ScriptFunction as ScriptFunction
from .script_module import ScriptModule as ScriptModule
from .script_module import TopLevelTracedModule as TopLevelTracedModule
from .script_module import TracedModule as TracedModule
from .scripting import script as script
from .tracing import TracerWarning as TracerWarning
from .tracing import TracingCheckError as TracingCheckError
from .tracing import is_tracing as is_tracing
from .tracing import script_if_tracing as _script_if_tracing
from .tracing import script_if_tracing as script_if_tracing
from .tracing import trace as trace
from .tracing import trace_module as trace_module

__all__ = [
    "Attribute",
    "Final",
    "RecursiveScriptModule",
    "ScriptFunction",
    "ScriptModule",
    "TopLevelTracedModule",
    "TracedModule",
    "TracerWarning",
    "TracingCheckError",
    "annotate",
    "annotations",
    "enable_onednn_fusion",
    "export",
    "freeze",
    "fuser",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "onednn_fusion_enabled",
    "optimize_for_inference",
    "optimized_execution",
    "run_frozen_optimizations",
    "save",
    "script",
    "script_if_tracing",
    "script_method",
    "set_fusion_strategy",
    "trace",
    "trace_module",
    "unused",
]
