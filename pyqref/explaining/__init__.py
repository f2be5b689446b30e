"""Where a number comes from: derivations of single elements of quantized models.

:func:`explain` runs a model once and derives one number of one layer, step by step, with the
equation of each step. Inside of :func:`recording` every tensor can be asked ``y.why(index)``.
Each step can be computed again from its own operands in exact arithmetic, by
:meth:`Derivation.check`.
"""

from .derivation import Derivation as Derivation
from .derivation import Input as Input
from .explain import Recording as Recording
from .explain import explain as explain
from .explain import recording as recording
from .steps import Operand as Operand
from .steps import Step as Step

__all__ = ["Derivation", "Input", "Operand", "Recording", "Step", "explain", "recording"]
