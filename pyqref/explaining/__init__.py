"""Where the numbers of a quantized model come from, and what makes them wrong.

:func:`explain` runs a model once and derives one number of one layer, step by step, with the
equation of each step. Inside of :func:`recording` every tensor can be asked ``y.why(index)``. Each
step can be computed again from its own operands in exact arithmetic, by :meth:`Derivation.check`.
:func:`explain_diff` says where two quantized models part, and why. :func:`ledger` splits the error
of a quantized model into layers and causes that add up exactly.
"""

from .accounting import ledger as ledger
from .asking import Recording as Recording
from .asking import explain as explain
from .asking import recording as recording
from .book import Entry as Entry
from .book import Ledger as Ledger
from .derivation import Derivation as Derivation
from .derivation import Input as Input
from .differences import explain_diff as explain_diff
from .pairs import Element as Element
from .pairs import Line as Line
from .pairs import Pair as Pair
from .report import Differences as Differences
from .report import LayerDifference as LayerDifference
from .steps import Operand as Operand
from .steps import Step as Step

__all__ = [
    "Derivation",
    "Differences",
    "Element",
    "Entry",
    "Input",
    "LayerDifference",
    "Ledger",
    "Line",
    "Operand",
    "Pair",
    "Recording",
    "Step",
    "explain",
    "explain_diff",
    "ledger",
    "recording",
]
